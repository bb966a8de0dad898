package io.millrace.proxy.caching.validate;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.field.EntityTag;
import io.millrace.proxy.http.FieldName;
import org.jspecify.annotations.Nullable;

/**
 * The validator that tells whether two parts are of one representation: a strong entity tag, or a Last-Modified that is strong
 * because the origin's Date is at least a second later (RFC 9110 s8.8.1, s8.8.2.2). Thread-safe: no state.
 */
public final class StrongValidator {
    private StrongValidator() {}

    /** Whether a response has one. */
    public static boolean isPresent(StoredHead head) {
        return head.hasEntityTag() ? hasStrongTag(head) : hasStrongDate(head);
    }

    /** Whether both have one and it is the same (RFC 9111 s3.4). */
    public static boolean isSame(StoredHead one, StoredHead other) {
        if (one.hasEntityTag() || other.hasEntityTag()) {
            return one.hasEntityTag()
                    && other.hasEntityTag()
                    && EntityTag.matchesStrongly(
                            one.wireBytes(),
                            one.entityTagStart(),
                            one.entityTagEnd(),
                            other.wireBytes(),
                            other.entityTagStart(),
                            other.entityTagEnd());
        }
        return hasStrongDate(one) && hasStrongDate(other) && one.lastModifiedSeconds() == other.lastModifiedSeconds();
    }

    /** The value of If-Range that names the representation (RFC 9110 s13.1.5), null without a strong validator. */
    public static @Nullable String ifRange(StoredHead head) {
        if (!isPresent(head)) {
            return null;
        }
        return head.hasEntityTag() ? head.entityTag() : head.fields().get(FieldName.LAST_MODIFIED);
    }

    private static boolean hasStrongTag(StoredHead head) {
        return head.hasEntityTag() && !EntityTag.isWeak(head.wireBytes(), head.entityTagStart(), head.entityTagEnd());
    }

    private static boolean hasStrongDate(StoredHead head) {
        return head.hasLastModified() && head.dateSeconds() - head.lastModifiedSeconds() >= 1;
    }
}
