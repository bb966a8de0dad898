package io.millrace.proxy.caching.field;

import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ListCursor;
import io.millrace.proxy.http.structured.BareItem;
import io.millrace.proxy.http.structured.Member;
import io.millrace.proxy.http.structured.StructuredFields;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The directives of one head: those of Cache-Control (RFC 9111 s5.2, RFC 5861), or of the targeted field that replaces
 * it (RFC 9213). In Cache-Control, names are case-insensitive. If a directive is repeated, its first value counts
 * (s4.2.1). Arguments may be tokens or quoted strings. Unknown directives are ignored.
 *
 * <p>Malformed directives are interpreted conservatively. In a response, an invalid {@code max-age} or {@code s-maxage}
 * counts as 0. {@code no-cache} and {@code private} with an invalid list of field names apply to the whole response. In
 * a request, an invalid or negative {@code max-age} counts as 0, so that the stored response is validated. Other
 * invalid numbers of a request count as absent. Immutable.
 */
public final class CacheControl {

    /** Value of an absent directive. */
    public static final long ABSENT = -1;

    /** Value of {@code max-stale} without argument: any staleness (RFC 9111 s5.2.1.2). */
    public static final long ANY_STALENESS = Long.MAX_VALUE;

    /** No directives. */
    public static final CacheControl NONE = new CacheControl();

    private static final CacheControl PRAGMA_NO_CACHE = new CacheControl();

    static {
        PRAGMA_NO_CACHE.noCache = true;
    }

    private boolean targeted;
    private boolean noStore;
    private boolean noCache;
    private boolean isPrivate;
    private boolean isPublic;
    private boolean mustRevalidate;
    private boolean proxyRevalidate;
    private boolean mustUnderstand;
    private boolean onlyIfCached;
    private long maxAge = ABSENT;
    private long sMaxAge = ABSENT;
    private long maxStale = ABSENT;
    private long minFresh = ABSENT;
    private long staleWhileRevalidate = ABSENT;
    private long staleIfError = ABSENT;
    private List<FieldName> noCacheFields = List.of();
    private List<FieldName> privateFields = List.of();

    private CacheControl() {}

    /** Parses the directives of a request. Pragma counts as no-cache if Cache-Control is absent (RFC 9111 s5.4). */
    public static CacheControl ofRequest(FieldSection fields) {
        if (fields.contains(FieldName.CACHE_CONTROL)) {
            return parse(fields, FieldName.CACHE_CONTROL);
        }
        return fields.contains(FieldName.PRAGMA) && fields.hasToken(FieldName.PRAGMA, "no-cache")
                ? PRAGMA_NO_CACHE
                : NONE;
    }

    /**
     * Parses the directives of a response. The first targeted field that is present and well-formed counts (RFC 9213
     * s2.2), else Cache-Control.
     *
     * @param targets names of targeted fields in the order of their priority
     */
    public static CacheControl ofResponse(FieldSection fields, List<FieldName> targets) {
        for (int i = 0; i < targets.size(); i++) {
            CacheControl targeted = fields.contains(targets.get(i)) ? targeted(fields, targets.get(i)) : null;
            if (targeted != null) {
                return targeted;
            }
        }
        return fields.contains(FieldName.CACHE_CONTROL) ? parse(fields, FieldName.CACHE_CONTROL) : NONE;
    }

    /** Parses a targeted field. Returns null when it is empty or malformed, and therefore ignored (RFC 9213 s2.1). */
    private static @Nullable CacheControl targeted(FieldSection fields, FieldName name) {
        Map<String, Member> members = StructuredFields.dictionary(fields, name);
        if (members == null || members.isEmpty()) {
            return null;
        }
        CacheControl control = new CacheControl();
        control.targeted = true;
        members.forEach((key, member) -> control.readTargeted(
                key, member instanceof Member.Item item ? item.value() : new BareItem.SfToken("list")));
        return control;
    }

    /**
     * Applies one member of a targeted field. A value of the wrong type is not used (RFC 9213 s2.1): a lifetime becomes
     * 0, a restriction applies to the whole response, and a permission does not apply.
     */
    private void readTargeted(String key, BareItem value) {
        if (value instanceof BareItem.SfBoolean flag && !flag.value()) {
            return;
        }
        boolean flag = value instanceof BareItem.SfBoolean;
        switch (key) {
            case "max-age" -> maxAge = seconds(value, 0);
            case "s-maxage" -> sMaxAge = seconds(value, 0);
            case "stale-while-revalidate" -> staleWhileRevalidate = seconds(value, ABSENT);
            case "stale-if-error" -> staleIfError = seconds(value, ABSENT);
            case "no-cache" -> {
                noCacheFields = names(value);
                noCache = noCacheFields.isEmpty();
            }
            case "private" -> {
                privateFields = names(value);
                isPrivate = privateFields.isEmpty();
            }
            case "no-store" -> noStore = true;
            case "must-revalidate" -> mustRevalidate = true;
            case "proxy-revalidate" -> proxyRevalidate = true;
            case "public" -> isPublic = flag;
            case "must-understand" -> mustUnderstand = flag;
            default -> {
                // Unknown directives are ignored (RFC 9111 s5.2.3).
            }
        }
    }

    private static long seconds(BareItem value, long malformed) {
        return value instanceof BareItem.SfInteger integer && integer.value() >= 0
                ? Math.min(integer.value(), FieldLexer.DELTA_SECONDS_MAX)
                : malformed;
    }

    private static List<FieldName> names(BareItem value) {
        if (!(value instanceof BareItem.SfString text)) {
            return List.of();
        }
        byte[] b = text.value().getBytes(StandardCharsets.ISO_8859_1);
        return List.copyOf(names(b, 0, b.length));
    }

    /**
     * Returns true if the directives come from a targeted field, which makes a cache ignore Cache-Control and Expires
     * (RFC 9213 s2.2).
     */
    public boolean isTargeted() {
        return targeted;
    }

    public boolean isNoStore() {
        return noStore;
    }

    /** Returns true if {@code no-cache} is present without field names. */
    public boolean isNoCache() {
        return noCache;
    }

    /** Returns true if {@code private} is present without field names. */
    public boolean isPrivate() {
        return isPrivate;
    }

    public boolean isPublic() {
        return isPublic;
    }

    public boolean isMustRevalidate() {
        return mustRevalidate;
    }

    public boolean isProxyRevalidate() {
        return proxyRevalidate;
    }

    public boolean isMustUnderstand() {
        return mustUnderstand;
    }

    public boolean isOnlyIfCached() {
        return onlyIfCached;
    }

    /** {@code max-age} in seconds or {@link #ABSENT}. */
    public long maxAgeSeconds() {
        return maxAge;
    }

    /** {@code s-maxage} in seconds or {@link #ABSENT}. */
    public long sharedMaxAgeSeconds() {
        return sMaxAge;
    }

    /** {@code max-stale} in seconds, {@link #ANY_STALENESS} or {@link #ABSENT}. */
    public long maxStaleSeconds() {
        return maxStale;
    }

    /** {@code min-fresh} in seconds or {@link #ABSENT}. */
    public long minFreshSeconds() {
        return minFresh;
    }

    /** {@code stale-while-revalidate} in seconds or {@link #ABSENT} (RFC 5861 s3). */
    public long staleWhileRevalidateSeconds() {
        return staleWhileRevalidate;
    }

    /** {@code stale-if-error} in seconds or {@link #ABSENT} (RFC 5861 s4). */
    public long staleIfErrorSeconds() {
        return staleIfError;
    }

    /** The field names of {@code no-cache="..."}; also empty without names. */
    public List<FieldName> noCacheFields() {
        return noCacheFields;
    }

    /** The field names of {@code private="..."}; also empty without names. */
    public List<FieldName> privateFields() {
        return privateFields;
    }

    /**
     * Returns true if {@code no-cache="..."} or {@code private="..."} lists the line's field (RFC 9111 s5.2.2.4,
     * s5.2.2.7).
     */
    public boolean names(FieldSection fields, int line) {
        return isAmong(noCacheFields, fields, line) || isAmong(privateFields, fields, line);
    }

    /** Returns true if the line's field is in the list. */
    public static boolean isAmong(List<FieldName> names, FieldSection fields, int line) {
        for (int i = 0; i < names.size(); i++) {
            if (fields.isNamed(line, names.get(i))) {
                return true;
            }
        }
        return false;
    }

    private static CacheControl parse(FieldSection fields, FieldName name) {
        CacheControl control = new CacheControl();
        ListCursor members = ListCursor.over(fields, name);
        while (members.next()) {
            control.read(members.bytes(), members.start(), members.end());
        }
        return control;
    }

    private void read(byte[] b, int start, int end) {
        int nameEnd = FieldLexer.skipToken(b, start, end);
        boolean hasArgument = nameEnd < end && b[nameEnd] == '=';
        if (nameEnd == start || (nameEnd < end && !hasArgument)) {
            return;
        }
        int from = hasArgument ? nameEnd + 1 : end;
        int to = end;
        if (isQuoted(b, from, end)) {
            from++;
            to--;
        }
        // Every comparison checks the length first, so the chain costs one or two byte comparisons.
        if (is(b, start, nameEnd, "max-age")) {
            maxAge = first(maxAge, b, from, to, 0);
        } else if (is(b, start, nameEnd, "s-maxage")) {
            sMaxAge = first(sMaxAge, b, from, to, 0);
        } else if (is(b, start, nameEnd, "no-cache")) {
            List<FieldName> names = names(b, from, to);
            noCache |= names.isEmpty();
            noCacheFields = joined(noCacheFields, names);
        } else if (is(b, start, nameEnd, "private")) {
            List<FieldName> names = names(b, from, to);
            isPrivate |= names.isEmpty();
            privateFields = joined(privateFields, names);
        } else if (is(b, start, nameEnd, "max-stale")) {
            long any = hasArgument ? ABSENT : ANY_STALENESS;
            maxStale = first(maxStale, b, from, to, any);
        } else if (is(b, start, nameEnd, "min-fresh")) {
            minFresh = first(minFresh, b, from, to, ABSENT);
        } else if (is(b, start, nameEnd, "stale-while-revalidate")) {
            staleWhileRevalidate = first(staleWhileRevalidate, b, from, to, ABSENT);
        } else if (is(b, start, nameEnd, "stale-if-error")) {
            staleIfError = first(staleIfError, b, from, to, ABSENT);
        } else {
            readFlag(b, start, nameEnd);
        }
    }

    private void readFlag(byte[] b, int start, int end) {
        noStore |= is(b, start, end, "no-store");
        isPublic |= is(b, start, end, "public");
        mustRevalidate |= is(b, start, end, "must-revalidate");
        proxyRevalidate |= is(b, start, end, "proxy-revalidate");
        mustUnderstand |= is(b, start, end, "must-understand");
        onlyIfCached |= is(b, start, end, "only-if-cached");
    }

    private static boolean is(byte[] b, int start, int end, String name) {
        return FieldLexer.equalsIgnoreCase(b, start, end, name);
    }

    private static boolean isQuoted(byte[] b, int from, int end) {
        return from < end && b[from] == '"' && FieldLexer.skipQuoted(b, from, end) == end;
    }

    private static long first(long current, byte[] b, int from, int to, long malformed) {
        if (current != ABSENT) {
            return current;
        }
        long seconds = FieldLexer.deltaSeconds(b, from, to);
        return seconds == FieldLexer.NOT_A_NUMBER ? malformed : seconds;
    }

    /**
     * Parses the field names of an argument. Empty if a name is malformed; the directive then applies to the whole
     * response.
     */
    private static List<FieldName> names(byte[] b, int from, int to) {
        List<FieldName> names = new ArrayList<>();
        int position = from;
        while (position < to) {
            int start = FieldLexer.skipSpace(b, position, to);
            int end = FieldLexer.skipToken(b, start, to);
            int after = FieldLexer.skipSpace(b, end, to);
            if (after < to && b[after] != ',') {
                return List.of();
            }
            if (end > start) {
                FieldName name = FieldName.of(b, start, end);
                if (name != null) {
                    names.add(name);
                }
            }
            position = after + 1;
        }
        return names;
    }

    private static List<FieldName> joined(List<FieldName> first, List<FieldName> second) {
        if (first.isEmpty()) {
            return List.copyOf(second);
        }
        List<FieldName> all = new ArrayList<>(first);
        all.addAll(second);
        return List.copyOf(all);
    }
}
