package io.millrace.cli.warm;

import java.util.List;

/**
 * One request of a run of {@code millctl cache warm}. Immutable.
 *
 * @param number position in the sequence, from 1
 * @param hash hash of the sequence up to this request, by which {@code --resume} detects changed input
 * @param fields lines {@code Name: value} for this request only
 */
record WarmRequest(WarmUrl url, List<String> fields, long number, SequenceHash hash) {}
