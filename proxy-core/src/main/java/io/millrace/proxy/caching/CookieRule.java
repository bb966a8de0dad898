package io.millrace.proxy.caching;

import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;

/** What {@link StoringRules.CookiePolicy} means for one response. No state. */
final class CookieRule {

    private CookieRule() {}

    /** Whether the response to the request may be stored. */
    static boolean allows(
            StoringRules.CookiePolicy policy, RequestHead request, ResponseHead response, CacheControl control) {
        if (policy == StoringRules.CookiePolicy.ALL) {
            return true;
        }
        FieldSection fields = response.fields();
        boolean sets = fields.contains(FieldName.SET_COOKIE);
        if (!sets && !request.fields().contains(FieldName.COOKIE)) {
            return true;
        }
        return allows(policy, flags(fields, control));
    }

    /** Whether the stored response may answer the request. Reads one field where the policy is {@code ALL}. */
    static boolean allows(StoringRules.CookiePolicy policy, RequestHead request, StoredHead stored) {
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

    /** What the policy asks of a response, as flags of {@link StoredHead}. */
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
