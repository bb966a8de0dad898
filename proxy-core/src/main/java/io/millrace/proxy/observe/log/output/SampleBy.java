package io.millrace.proxy.observe.log.output;

/** How a sampled log selects its lines. */
public enum SampleBy {
    /** By a counter: the first request, then every Nth request. */
    REQUEST,
    /** By a hash of the URL. */
    URL,
    /** By a hash of the client's address. */
    CLIENT
}
