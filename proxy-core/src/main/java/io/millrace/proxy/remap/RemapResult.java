package io.millrace.proxy.remap;

/**
 * The result of a lookup in the {@link RemapTable}. It is the rule that maps or redirects a URL, or the reason
 * why there is none. Results are created with the table, not per request.
 */
public sealed interface RemapResult permits Mapped, Redirected, NotMapped {}
