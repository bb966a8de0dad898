package io.millrace.proxy.http.structured;

import java.util.List;
import java.util.Map;

/** A member of a list or dictionary (RFC 9651 s3.1, s3.2). Immutable. */
public sealed interface Member {

    /** The parameters in their original order (s3.1.2). */
    Map<String, BareItem> parameters();

    /** A single item (s3.3). */
    record Item(BareItem value, Map<String, BareItem> parameters) implements Member {}

    /** An inner list (s3.1.1). */
    record InnerList(List<Item> items, Map<String, BareItem> parameters) implements Member {}
}
