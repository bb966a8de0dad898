package io.millrace.proxy.cache;

/**
 * The result of a purge, which is durable. Immutable.
 *
 * @param id the identifier, for {@code millctl purge show} and {@code undo}
 * @param scope the kind as in records of purges, such as {@code url}; wider than requested if a table of purges was
 *     full
 * @param target the URL, host, tags or expression after parsing
 * @param detail a sentence for display
 * @param objects the number of covered responses; -1 if they were not counted, or the count takes longer than about a
 *     second
 */
public record PurgeResult(String id, String scope, String target, String detail, long objects) {}
