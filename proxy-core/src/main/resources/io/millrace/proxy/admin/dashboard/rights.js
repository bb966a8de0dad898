// The rights of a session. The server checks each request; the page only hides controls that the server would refuse.

/** Rights by the role of a session and, for a purger, its sites and kinds of purges. Empty lists are no limit. */
export function rightsOf({role, sites, kinds}) {
  const isOperator = role === 'operator';
  const isPurger = role === 'purger';
  return {
    role,
    sites: sites || [],
    kinds: kinds || [],
    mayRead: !isPurger,
    mayChange: isOperator,
    mayPurge: isOperator || isPurger,
    /** Whether purges of a kind are allowed: url, host, prefix, group, tag, all. A purger of some sites never purges all. */
    purges: (kind) => isOperator || (isPurger && (kinds.length === 0 || kinds.includes(kind)) && !(kind === 'all' && sites.length > 0)),
  };
}
