of no this yes that cloud
this cloud yes some no of
one stone no stone some yes
yes house a the of no
cloud no this one yes
a this yes river river house
one of that one no yes
that yes the of no house
no a yes house
tree some some yes one no
one this no of yes
a of yes the cloud some
one no some yes the
river some yes house river of
some this river cloud no one
yes some river the no some
the a no some yes this
yes river no a
one no stone cloud of the
yes no stone the a this
no river yes river that
a yes some river this no
no yes cloud of stone tree
yes cloud tree some river cloud
no yes stone a
one the stone yes river no
cloud no some tree river tree
stone tree river yes some some
house tree no this yes
river yes a no some that
