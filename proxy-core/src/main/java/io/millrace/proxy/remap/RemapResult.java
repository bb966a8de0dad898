package io.millrace.proxy.remap;

/**
 * The result of a table lookup: the rule that maps or redirects a URL, or the reason why there is none. Never allocated
 * per request.
 */
public sealed interface RemapResult permits Mapped, Redirected, NotMapped {}
