package io.millrace.proxy.remap;

/** What the table says about a URL: the rule that maps it or sends it elsewhere, or why none does. Never allocated for a request. */
public sealed interface RemapResult permits Mapped, Redirected, NotMapped {}
