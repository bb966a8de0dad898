package io.millrace.store.tool;

import io.millrace.store.disk.segment.SegmentSummary;
import org.jspecify.annotations.Nullable;

/**
 * Compares a segment's summary with its records, both in the order of the records.
 *
 * <p>Confined to one thread.
 */
final class SummaryCheck {
    private final CheckReport report;
    private final int segment;
    private final @Nullable SegmentSummary summary;
    private int next;
    private int unlisted;

    /**
     * Creates a check.
     *
     * @param summary null for a segment that was never sealed: there is no comparison then
     */
    SummaryCheck(CheckReport report, int segment, @Nullable SegmentSummary summary) {
        this.report = report;
        this.segment = segment;
        this.summary = summary;
    }

    /** Compares the next record. */
    void walked(SegmentSummary.Entry record) {
        SegmentSummary list = summary;
        if (list == null) {
            return;
        }
        for (; next < list.size(); next++) {
            SegmentSummary.Entry entry = list.entry(next);
            if (entry != null && entry.offset() >= record.offset()) {
                break;
            }
            missing(entry);
        }
        SegmentSummary.Entry entry = next < list.size() ? list.entry(next) : null;
        if (entry == null || entry.offset() > record.offset()) {
            unlisted++;
            return;
        }
        next++;
        if (!entry.isSame(record)) {
            missing(entry);
        }
    }

    /** Ends the comparison after the last record. */
    void end() {
        SegmentSummary list = summary;
        if (list == null) {
            return;
        }
        for (; next < list.size(); next++) {
            missing(list.entry(next));
        }
        if (unlisted > 0) {
            report.finding(
                    CheckReport.Kind.DAMAGED, "segment " + segment + ": its summary lacks " + unlisted + " records");
        }
    }

    private void missing(SegmentSummary.@Nullable Entry entry) {
        report.finding(CheckReport.Kind.DAMAGED, "segment " + segment + ": its summary lists " + entry + ", not found");
    }
}
