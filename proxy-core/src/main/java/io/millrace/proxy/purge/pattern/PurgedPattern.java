package io.millrace.proxy.purge.pattern;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.ExpressionException;
import io.millrace.proxy.expression.Field;
import io.millrace.proxy.expression.stored.StoredFacts;
import io.millrace.proxy.expression.stored.StoredFields;
import io.millrace.proxy.expression.stored.StoredUrl;
import java.nio.charset.StandardCharsets;
import java.util.Set;

/**
 * A purge of all stored responses for which an expression is true. Covers only responses whose fetch began before
 * the purge, that is, under a lower stamp. A stamp is a number that increases with each purge. The age of a
 * response is its age at the time of the purge.
 *
 * <p>Immutable.
 */
public final class PurgedPattern {
    /** Limit of the expression in bytes (UTF-8), so that it fits into a journal entry. */
    public static final int TEXT_BYTES_MAX = 4000;

    /** Expression fields whose values are not all in the inventory (the table of stored objects). */
    private static final Set<String> NOT_LISTED = Set.of("tag", "header");

    private static final Set<String> URL_FIELDS = Set.of("url", "scheme", "host", "target", "path", "query");
    private final Expression<StoredFacts> expression;
    private final String text;
    private final boolean soft;
    private final long stamp;
    private final long millis;

    private PurgedPattern(Expression<StoredFacts> expression, String text, boolean soft, long stamp, long millis) {
        this.expression = expression;
        this.text = text;
        this.soft = soft;
        this.stamp = stamp;
        this.millis = millis;
    }

    /**
     * Creates a purge from an expression. {@link #at} must set its stamp and time.
     *
     * @throws ExpressionException if the text is not an expression over stored responses
     */
    public static PurgedPattern parse(String text, boolean soft) throws ExpressionException {
        return new PurgedPattern(Expression.parse(text, StoredFields.PURGED), text, soft, Long.MAX_VALUE, 0);
    }

    /**
     * Returns a copy with a stamp and a time.
     *
     * @param newMillis the time in epoch milliseconds
     */
    public PurgedPattern at(long newStamp, long newMillis) {
        return new PurgedPattern(expression, text, soft, newStamp, newMillis);
    }

    /** Returns true if the expression is too long for the journal. */
    public boolean isTooLong() {
        return isTooLong(text);
    }

    /** Returns true if an expression is too long for the journal. */
    public static boolean isTooLong(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length > TEXT_BYTES_MAX;
    }

    /** The expression as it was given. */
    public String text() {
        return text;
    }

    /** Returns true for a soft purge, which makes covered responses stale instead of removing them. */
    public boolean isSoft() {
        return soft;
    }

    /** The stamp. Only responses whose fetch began under a lower stamp are covered. */
    public long stamp() {
        return stamp;
    }

    /** The time of the purge, in epoch milliseconds. */
    public long millis() {
        return millis;
    }

    /**
     * Returns true if the purge covers a stored response.
     *
     * @param bodyBytes length of the content; -1 if it is not known
     */
    public boolean covers(StoredUrl url, StoredHead head, long bodyBytes) {
        return head.stamp() < stamp
                && !head.isVaryMarker()
                && expression.test(new HeadFacts(url, head, bodyBytes, millis / 1000));
    }

    /**
     * Returns true if the expression could be true for a response of a host.
     *
     * @param host the host, with its port if that is not the default
     */
    public boolean couldCoverHost(String host) {
        return expression.couldHold(new UrlFacts(StoredUrl.of("http://" + host + "/")), field -> !field.name()
                .equals("host"));
    }

    /** Returns true if the expression could be true for a response with this URL. */
    public boolean couldCover(StoredUrl url) {
        return expression.couldHold(new UrlFacts(url), field -> !URL_FIELDS.contains(field.name()));
    }

    /**
     * Returns true if the expression could be true for a response, according to its entry in the inventory.
     *
     * @param facts the entry; ages are those at the time of the purge
     */
    public boolean couldCover(StoredFacts facts) {
        return expression.couldHold(facts, field -> isUnknown(field, facts));
    }

    /**
     * Returns true if the expression could be false for a response, according to its entry in the inventory.
     *
     * @param facts the entry; ages are those at the time of the purge
     */
    public boolean couldMiss(StoredFacts facts) {
        return expression.couldFail(facts, field -> isUnknown(field, facts));
    }

    private static boolean isUnknown(Field<StoredFacts> field, StoredFacts listed) {
        return NOT_LISTED.contains(field.name())
                || (listed.bodyBytes() < 0 && field.name().equals("size"));
    }

    @Override
    public String toString() {
        return text + (soft ? " soft" : "") + " at " + stamp;
    }
}
