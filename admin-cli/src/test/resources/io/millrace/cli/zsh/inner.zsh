# Read by an interactive zsh: its completion writes what it would offer into the file "offered", and ends the shell.
PROMPT=
fpath=($PWD/functions $fpath)
autoload -U compinit
compinit -u -D
bindkey '^I' complete-word
compadd () {
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
        builtin compadd "$@"
        return
    fi
    local -a hits
    builtin compadd -A hits "$@"
    print -rl -- $hits >> offered
    builtin compadd "$@"
}
comppostfuncs=(exit)
print rea''dy
