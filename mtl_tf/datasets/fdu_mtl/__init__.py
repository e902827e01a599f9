"""FDU-MTL: reviews of sixteen domains (Liu et al. 2017)."""

# In the order of the papers' tables.
CONFIGS = (
    "books",
    "electronics",
    "dvd",
    "kitchen_housewares",
    "apparel",
    "camera_photo",
    "health_personal_care",
    "music",
    "toys_games",
    "video",
    "baby",
    "magazines",
    "software",
    "sports_outdoors",
    "imdb",
    "MR",
)
