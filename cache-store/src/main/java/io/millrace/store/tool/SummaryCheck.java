package io.millrace.store.tool;

import io.millrace.store.disk.segment.SegmentSummary;
import org.jspecify.annotations.Nullable;

/**
 * Compares a segment's summary (the list of its records) with the records that a scan of the segment finds. The records
 * must be passed in the order of their offsets, which is also the order of the summary.
 *
 * <p>Confined to one thread.
 */
final class SummaryCheck {
    private final CheckReport report;
    private final int segment;
    private final @Nullable SegmentSummary summary;
    /** Position in {@link #summary} of the entry to compare next. */
    private int nextEntry;

    private int unlistedRecords;

    /**
     * Creates a check.
     *
     * @param summary the summary of the segment; null if the segment was never sealed; then nothing is compared
     */
    SummaryCheck(CheckReport report, int segment, @Nullable SegmentSummary summary) {
        this.report = report;
        this.segment = segment;
        this.summary = summary;
    }

    /** Compares the next record of the segment. */
    void compareNext(SegmentSummary.Entry record) {
        SegmentSummary entries = summary;
        if (entries == null) {
            return;
        }
        for (; nextEntry < entries.size(); nextEntry++) {
            SegmentSummary.Entry entry = entries.entry(nextEntry);
            if (entry != null && entry.offset() >= record.offset()) {
                break;
            }
            reportMissing(entry);
        }
        SegmentSummary.Entry entry = nextEntry < entries.size() ? entries.entry(nextEntry) : null;
        if (entry == null || entry.offset() > record.offset()) {
            unlistedRecords++;
            return;
        }
        nextEntry++;
        if (!entry.describesSameRecord(record)) {
            reportMissing(entry);
        }
    }

    /** Ends the comparison. Call after the last record. */
    void end() {
        SegmentSummary entries = summary;
        if (entries == null) {
            return;
        }
        for (; nextEntry < entries.size(); nextEntry++) {
            reportMissing(entries.entry(nextEntry));
        }
        if (unlistedRecords > 0) {
            report.finding(
                    CheckReport.Kind.DAMAGED,
                    "segment " + segment + ": its summary lacks " + unlistedRecords + " records");
        }
    }

    private void reportMissing(SegmentSummary.@Nullable Entry entry) {
        String problem = entry == null ? "a record of an unknown type" : entry + ", but the segment has no such record";
        report.finding(CheckReport.Kind.DAMAGED, "segment " + segment + ": its summary lists " + problem);
    }
}
