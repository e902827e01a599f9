"""The words of the embedded corpus, shared by all domains or not."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# Adjectives with the same polarity in every domain. The lists are deliberately
# long, so that each word is rare in a domain's few training texts.
GOOD = _words(
    """
    admirable adorable amazing astonishing awesome beautiful breathtaking
    brilliant captivating charming classy clever compelling convincing
    crisp dazzling decent delicious delightful dependable effortless
    elegant enchanting engaging enjoyable excellent exceptional exciting
    extraordinary fabulous fantastic faultless fine first-rate flawless
    fresh fun genuine glorious good gorgeous graceful great gripping
    handsome heavenly honest ideal imaginative immaculate impressive
    incredible ingenious inspired inventive irresistible likeable lively
    lovely magical magnificent marvellous masterful memorable neat nice
    original outstanding perfect phenomenal pleasant pleasing polished
    praiseworthy precious refreshing reliable remarkable rewarding rich
    satisfying skilful smart solid spectacular splendid stellar striking
    stunning sturdy stylish sublime superb superior terrific thoughtful
    thrilling top-notch unforgettable vivid warm winning wonderful
    worthwhile
    """
)
BAD = _words(
    """
    absurd abysmal amateurish angering annoying appalling atrocious awful
    awkward bad baffling banal bland boring botched broken careless cheap
    childish clueless clumsy confusing cringeworthy crude crummy defective
    deplorable depressing dire disappointing disastrous dismal dodgy
    dreadful dreary dull embarrassing exhausting faulty feeble flawed
    flimsy forgettable frustrating ghastly gloomy grim half-baked hideous
    hopeless horrendous horrible idiotic inferior infuriating insulting
    irritating lacklustre lame laughable lazy lifeless lousy mediocre
    messy miserable monotonous nasty nauseating painful pathetic phoney
    pitiful pointless poor repulsive ridiculous rotten rubbish sad
    second-rate senseless shoddy sloppy stale stupid substandard tacky
    tasteless tedious terrible tired tiresome trashy ugly unbearable
    unconvincing underwhelming uninspired unpleasant unreliable useless
    vile weak wobbly worthless wretched
    """
)

# Words whose polarity depends on the domain: word -> the domains where it
# praises, the domains where it blames. Other domains do not use it.
FLIPPING = {
    "unpredictable": (("books", "films"), ("gadgets", "kitchen")),
    "intense": (("books", "films"), ("gadgets", "kitchen")),
    "dark": (("books", "films"), ("gadgets", "kitchen")),
    "strange": (("books", "films"), ("gadgets", "kitchen")),
    "complex": (("books", "films"), ("gadgets", "kitchen")),
    "wild": (("books", "films"), ("gadgets", "kitchen")),
    "raw": (("books", "films"), ("kitchen",)),
    "simple": (("gadgets", "kitchen"), ("books", "films")),
    "predictable": (("gadgets", "kitchen"), ("books", "films")),
    "light": (("gadgets", "kitchen"), ("books", "films")),
    "basic": (("gadgets", "kitchen"), ("books", "films")),
    "quiet": (("gadgets", "kitchen"), ("books", "films")),
    "loud": (("films", "gadgets"), ("books", "kitchen")),
    "heavy": (("kitchen",), ("books", "films", "gadgets")),
    "hot": (("kitchen",), ("gadgets",)),
    "long": (("gadgets",), ("books", "films")),
    "thin": (("gadgets",), ("books", "films", "kitchen")),
    "soft": (("gadgets",), ("books", "films", "kitchen")),
}

# The aspects of a review: (noun phrase, whether it is plural).
ASPECTS = {
    "books": (
        ("the plot", False),
        ("the prose", False),
        ("the dialogue", False),
        ("the first chapter", False),
        ("the last chapter", False),
        ("the narrator", False),
        ("the translation", False),
        ("the characters", True),
        ("the descriptions", True),
        ("the essays", True),
    ),
    "films": (
        ("the script", False),
        ("the acting", False),
        ("the soundtrack", False),
        ("the ending", False),
        ("the lead actress", False),
        ("the camera work", False),
        ("the opening scene", False),
        ("the jokes", True),
        ("the costumes", True),
        ("the effects", True),
    ),
    "gadgets": (
        ("the screen", False),
        ("the battery", False),
        ("the keyboard", False),
        ("the software", False),
        ("the menu", False),
        ("the sound", False),
        ("the charger", False),
        ("the buttons", True),
        ("the speakers", True),
        ("the updates", True),
    ),
    "kitchen": (
        ("the handle", False),
        ("the lid", False),
        ("the blade", False),
        ("the coating", False),
        ("the motor", False),
        ("the finish", False),
        ("the manual", False),
        ("the bowls", True),
        ("the knives", True),
        ("the recipes", True),
    ),
}

# The reviewed thing itself, after "this" and "the".
THINGS = {
    "books": ("book", "novel", "story", "volume"),
    "films": ("film", "movie", "picture", "sequel"),
    "gadgets": ("camera", "phone", "tablet", "headset"),
    "kitchen": ("blender", "kettle", "pan", "toaster"),
}

# Sentences without information about the verdict.
FILLERS = {
    "books": (
        "i read it on the train",
        "my book club chose it in may",
        "it has about three hundred pages",
        "i borrowed it from the library",
        "it is set in a small town",
        "this is the second part of a series",
    ),
    "films": (
        "we saw it on a rainy sunday",
        "it runs for about two hours",
        "i watched it with my brother",
        "the cinema was half full",
        "it was shot in canada",
        "a friend told me about it",
    ),
    "gadgets": (
        "it arrived on monday",
        "i use it at work",
        "i bought the grey one",
        "it replaces my old one",
        "it comes with a short cable",
        "my sister has the same model",
    ),
    "kitchen": (
        "i got it for my birthday",
        "we use it every morning",
        "it came in a large box",
        "i bought it for our new flat",
        "it stands next to the sink",
        "my mother owns an older one",
    ),
}

# Whole clauses; {it} is "it" or "this film". Some deny and mean the opposite.
PRAISES = (
    "i loved {it}",
    "i would recommend {it} to anyone",
    "i am glad that i chose {it}",
    "{it} was worth every cent",
    "{it} made my day",
    "i never regretted choosing {it}",
    "i could not be happier with {it}",
)
BLAMES = (
    "i hated {it}",
    "i would warn anyone about {it}",
    "i regret that i chose {it}",
    "{it} was a waste of money",
    "{it} ruined my day",
    "i would never recommend {it} to anyone",
    "i could not be angrier about {it}",
)

INTENSIFIERS = ("very", "really", "truly", "extremely", "absolutely", "so")
DOWNTONERS = ("slightly", "a bit", "a little", "somewhat", "at times")
DENIALS = ("not", "never", "hardly", "far from", "anything but", "not at all")
TRAPS = ("nothing short of", "nothing but")

# Joins two opposite clauses; {win} carries the verdict and {lose} does not. The
# two patterns of a pair differ only in the order.
CONTRASTS = (
    "{lose} , but {win}",
    "{lose} . still , {win}",
    "{lose} at first , but {win} in the end",
    "although {lose} , {win}",
    "{win} , although {lose}",
    "even if {lose} , {win}",
    "{win} , even if {lose}",
    "while {lose} , {win}",
    "{win} , despite the fact that {lose}",
    "i was told that {lose} , but {win}",
)
