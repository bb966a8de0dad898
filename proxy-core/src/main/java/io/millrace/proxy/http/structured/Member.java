package io.millrace.proxy.http.structured;

import java.util.List;
import java.util.Map;

/** What a list or a dictionary holds (RFC 9651 s3.1, s3.2). Immutable. */
public sealed interface Member {

    /** The parameters, in the order in which they came (s3.1.2). */
    Map<String, BareItem> parameters();

    /** A single value (s3.3). */
    record Item(BareItem value, Map<String, BareItem> parameters) implements Member {}

    /** A list within a list (s3.1.1). */
    record InnerList(List<Item> items, Map<String, BareItem> parameters) implements Member {}
}
