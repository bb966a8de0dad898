# Types $2 and a tab into a zsh on a terminal of its own that has read $1, and waits for its end.
zmodload zsh/zpty
zpty inner zsh -f -i
zpty -w inner "source $1"
while zpty -r inner said && [[ $said != *ready* ]]; do :; done
zpty -w -n inner "$2"$'\t'
while zpty -r inner said; do :; done
