package io.millrace.cli.warm;

import java.util.List;

/**
 * One request of a run. Immutable.
 *
 * @param number position in the sequence, from 1
 * @param mark hash of the sequence up to this request
 * @param fields lines {@code Name: value} for this request only
 */
record WarmRequest(WarmUrl url, List<String> fields, long number, Mark mark) {}
