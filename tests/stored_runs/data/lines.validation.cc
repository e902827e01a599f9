stone stone a river no river
stone house yes one stone house
no one of the yes river
cloud yes stone tree cloud no
tree a one no that one
river a yes one tree no
no tree river cloud of this
stone yes house no some
no of the that yes that
yes house house no
cloud river this no this some
cloud house yes cloud no a
no the cloud yes tree the
the yes that no river the
of no one yes
house this stone yes no
a that this river no a
river yes some no
this no some a that one
some yes this this no the
river some some no stone a
stone the yes house some no
that no river tree yes river
this yes a of no some
