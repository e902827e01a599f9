tree house no yes stone that
stone the yes this river a
one house no yes one cloud
that that that cloud yes no
some cloud this of no stone
yes no the this
cloud this no river yes cloud
yes no one this some of
no cloud house yes stone
yes this the tree no river
one cloud stone of that no
tree the house yes this a
no tree stone house yes some
yes tree no some
a no yes some river
cloud some tree yes this no
no cloud a yes that this
yes a some no cloud cloud
stone a tree that a no
yes cloud no tree stone cloud
no of yes river cloud of
yes stone cloud no tree tree
no cloud some of yes of
yes stone that this river that
no house some yes
a some cloud yes a no
house some the tree no one
river river yes stone cloud a
the that river no house yes
stone this yes no
the stone no tree this river
yes of no of stone
some some one no yes
cloud yes some a no one
cloud a no that yes
stone river house yes that that
house no cloud yes a the
that yes that no cloud
river house house one house a
yes one no tree some house
no this of yes
stone yes tree a house no
tree some no one a yes
yes no tree some tree
the house some the river no
a cloud stone house yes river
stone one no yes the of
yes of cloud no of cloud
a a no a yes house
cloud stone yes that no tree
tree of no of yes
the of river this yes no
no the the yes that some
a river one yes one tree
a river no river river yes
tree yes that no some
river a this tree the no
river some one yes a house
a no a some the this
cloud stone some yes a one
tree no a tree some yes
river that yes some no one
house no of of yes
tree the some yes river river
no a the of river yes
a stone a tree yes the
one no stone one river river
this of yes no
one house this no yes a
river that yes no
some some house the of no
of one one house that yes
a stone no of yes the
house yes some no
river no yes stone a river
river tree river yes no one
this the no yes some stone
yes some no cloud
river some the no river one
the river yes no
a some no yes
yes some cloud one a this
of no yes of
this yes cloud river stone of
a the no one yes this
yes this house of no this
cloud one stone no one stone
yes that a this no
stone a of no of that
cloud yes no of a house
river one no river yes that
cloud some yes cloud river of
no one a yes some
cloud cloud of of yes house
this no that stone river yes
tree yes cloud the that no
