package io.millrace.proxy.exchange.decide;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.validate.PartialContent;
import io.millrace.proxy.caching.validate.Preconditions;
import io.millrace.proxy.caching.validate.StrongValidator;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.serve.Selection;
import io.millrace.store.StoredObject;

/**
 * The availability of the requested bytes of a stored response. A response is stored in one of three ways: whole; in
 * blocks (parts of fixed size), of which some may be missing; or as a single part, whose head has status 206.
 */
public enum StoredParts {
    /** All wanted bytes are stored, or the request wants none. */
    PRESENT,
    /** Some wanted bytes are not stored. */
    MISSING,
    /** If-Match or If-Unmodified-Since is false for the stored response: the origin must decide. */
    REFUSED;

    /** Returns the availability of the bytes that the request wants. */
    public static StoredParts of(RequestHead request, StoredObject<StoredHead> object) {
        StoredHead head = object.head();
        if (hasOriginPrecondition(request.fields())
                && Preconditions.evaluate(request, head) == Preconditions.Outcome.FAILED) {
            return REFUSED;
        }
        if (isPart(head)) {
            return Selection.ofPart(request, head, PartialContent.rangeOf(head)) == null ? MISSING : PRESENT;
        }
        if (object.residentBody() != null || object.isComplete() || request.method() == Method.HEAD) {
            return PRESENT;
        }
        Selection selection = Selection.of(request, head, object.length());
        return switch (selection.kind()) {
            case WHOLE, PARTS -> MISSING;
            case PART -> object.hasRange(selection.first(), selection.end() - selection.first()) ? PRESENT : MISSING;
            case NOT_MODIFIED, PRECONDITION_FAILED, UNSATISFIABLE -> PRESENT;
        };
    }

    /** Returns true if an incomplete object can be served while its missing blocks are fetched. */
    static boolean isReadable(StoredObject<StoredHead> object) {
        return object.length() >= 0 && StrongValidator.isPresent(object.head());
    }

    /** Returns true if a stored head belongs to a single part. */
    public static boolean isPart(StoredHead head) {
        return head.status() == 206;
    }

    private static boolean hasOriginPrecondition(FieldSection fields) {
        return fields.contains(FieldName.IF_MATCH) || fields.contains(FieldName.IF_UNMODIFIED_SINCE);
    }
}
