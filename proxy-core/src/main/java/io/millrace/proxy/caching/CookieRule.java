package io.millrace.proxy.caching;

import io.millrace.proxy.caching.field.CacheControl;
import io.millrace.proxy.caching.settings.StoringRules;
import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;

/**
 * Applies {@link StoringRules.CookiePolicy} and {@link LifetimeRules.HeuristicWithCookies} to one response.
 * Thread-safe: no state.
 */
public final class CookieRule {

    private CookieRule() {}

    /** Returns true if the response to the request may be stored. */
    public static boolean allows(
            StoringRules.CookiePolicy policy, RequestHead request, ResponseHead response, CacheControl control) {
        if (policy == StoringRules.CookiePolicy.ALL) {
            return true;
        }
        FieldSection fields = response.fields();
        boolean setsCookie = fields.contains(FieldName.SET_COOKIE);
        if (!setsCookie && !request.fields().contains(FieldName.COOKIE)) {
            return true;
        }
        return allows(policy, flags(fields, control));
    }

    /** Returns true if the stored response may answer the request. With the policy {@code ALL} no field is read. */
    public static boolean allows(StoringRules.CookiePolicy policy, RequestHead request, StoredHead stored) {
        return policy == StoringRules.CookiePolicy.ALL
                || (!stored.hasSetCookie() && !request.fields().contains(FieldName.COOKIE))
                || allows(policy, stored.flags);
    }

    private static boolean allows(StoringRules.CookiePolicy policy, int flags) {
        boolean text = (flags & StoredHead.TEXT) != 0;
        boolean shared = (flags & StoredHead.SET_COOKIE) == 0 || (flags & StoredHead.PUBLIC) != 0;
        return switch (policy) {
            case NONE -> false;
            case ALL -> true;
            case IMAGES -> (flags & StoredHead.IMAGE) != 0;
            case NOT_TEXT -> !text;
            case NOT_TEXT_UNLESS_PUBLIC -> !text || shared;
        };
    }

    /** Returns true if the response gets no heuristic lifetime, since it may be specific to one user. */
    static boolean forbidsHeuristicLifetime(
            LifetimeRules.HeuristicWithCookies policy, RequestHead request, FieldSection response) {
        if (policy == LifetimeRules.HeuristicWithCookies.ALL) {
            return false;
        }
        FieldSection requestFields = request.fields();
        return response.contains(FieldName.SET_COOKIE)
                || requestFields.contains(FieldName.AUTHORIZATION)
                || (requestFields.contains(FieldName.COOKIE)
                        && (policy == LifetimeRules.HeuristicWithCookies.NONE || mayBeText(response)));
    }

    /**
     * Returns true if the content may be text, such as pages or data about a user. Text is {@code text/*}, all JSON and
     * XML types, and content without a Content-Type. Images are not text.
     */
    private static boolean mayBeText(FieldSection fields) {
        int line = fields.find(FieldName.CONTENT_TYPE);
        if (line < 0) {
            return true;
        }
        byte[] b = fields.bytes();
        int start = fields.valueStart(line);
        int slash = FieldLexer.skipToken(b, start, fields.valueEnd(line));
        boolean typed = slash > start && slash < fields.valueEnd(line) && b[slash] == '/';
        if (!typed || FieldLexer.equalsIgnoreCase(b, start, slash, "text")) {
            return true;
        }
        int end = FieldLexer.skipToken(b, slash + 1, fields.valueEnd(line));
        return !FieldLexer.equalsIgnoreCase(b, start, slash, "image")
                && (endsWith(b, slash + 1, end, "json") || endsWith(b, slash + 1, end, "xml"));
    }

    private static boolean endsWith(byte[] b, int start, int end, String suffix) {
        int from = end - suffix.length();
        return from >= start && FieldLexer.equalsIgnoreCase(b, from, end, suffix);
    }

    /** Returns the properties that the policy needs, as flags of {@link StoredHead}. */
    static int flags(FieldSection fields, CacheControl control) {
        return (fields.contains(FieldName.SET_COOKIE) ? StoredHead.SET_COOKIE : 0)
                | (control.isPublic() ? StoredHead.PUBLIC : 0)
                | (isOfType(fields, "image/") ? StoredHead.IMAGE : 0)
                | (isOfType(fields, "text/") ? StoredHead.TEXT : 0);
    }

    private static boolean isOfType(FieldSection fields, String type) {
        int line = fields.find(FieldName.CONTENT_TYPE);
        if (line < 0) {
            return false;
        }
        int start = fields.valueStart(line);
        int end = start + type.length();
        return end <= fields.valueEnd(line) && FieldLexer.equalsIgnoreCase(fields.bytes(), start, end, type);
    }
}
