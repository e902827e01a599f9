"""How the gradients of several tasks are joined."""
