package io.millrace.proxy.caching.validate;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.field.EntityTag;
import io.millrace.proxy.http.FieldName;
import org.jspecify.annotations.Nullable;

/**
 * Finds the validator that proves that two parts belong to one representation. It is a strong entity tag, or a strong
 * Last-Modified: one at least a second earlier than the origin's Date (RFC 9110 s8.8.1, s8.8.2.2). Thread-safe: no
 * state.
 */
public final class StrongValidator {
    private StrongValidator() {}

    /** Returns true if a response has a strong validator. */
    public static boolean isPresent(StoredHead head) {
        return head.hasEntityTag() ? hasStrongTag(head) : hasStrongDate(head);
    }

    /** Returns true if both responses have an equal strong validator (RFC 9111 s3.4). */
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

    /** Returns the value of If-Range for the representation (RFC 9110 s13.1.5); null without a strong validator. */
    public static @Nullable String ifRange(StoredHead head) {
        if (!isPresent(head)) {
            return null;
        }
        return head.hasEntityTag() ? head.entityTag() : head.fields().get(FieldName.LAST_MODIFIED);
    }

    private static boolean hasStrongTag(StoredHead head) {
        return head.hasEntityTag() && !EntityTag.isWeak(head.wireBytes(), head.entityTagStart(), head.entityTagEnd());
    }

    /**
     * Returns true if Last-Modified identifies the bytes. It does not for encoded content if the remap rule compresses:
     * the same content, encoded another time or by the origin, has the same date.
     */
    static boolean hasStrongDate(StoredHead head) {
        return head.hasLastModified() && head.dateSeconds() - head.lastModifiedSeconds() >= 1 && !head.isDateWeak();
    }
}
