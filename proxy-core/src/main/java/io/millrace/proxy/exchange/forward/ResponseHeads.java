package io.millrace.proxy.exchange.forward;

import io.millrace.proxy.caching.tags.TagRules;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldNames;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.HttpDates;
import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http.forward.HopByHop;
import org.jspecify.annotations.Nullable;

/**
 * Builds response heads for clients from an origin's head. Copies end-to-end fields only, and adds a Date if the origin
 * sent none (RFC 9110 s6.6.1, s7.6.1).
 *
 * <p>Thread-safe: no state.
 */
public final class ResponseHeads {
    private static final int EARLY_HINTS = 103;
    private static final FieldNames REPLACED = FieldNames.of(FieldName.CONTENT_LENGTH, FieldName.AGE);

    private ResponseHeads() {}

    /** Builds the head of an interim response. */
    public static OutboundHead interim(OutboundHead head, ResponseHead from) {
        return head.reset(
                from.status(),
                from.reason(),
                endToEnd(from.fields(), head.ownFields()).buildLast());
    }

    /**
     * Returns the Link fields of Early Hints (RFC 8297), for exchanges that joined the fetch. Other fields may be meant
     * for the client whose request was sent.
     *
     * @return null if the response is not 103 or has no Link field
     */
    public static @Nullable ResponseHead hints(ResponseHead interim) {
        FieldSection fields = interim.fields();
        if (interim.status() != EARLY_HINTS || !fields.contains(FieldName.LINK)) {
            return null;
        }
        FieldSection.Builder links = FieldSection.builder();
        for (int line = fields.find(FieldName.LINK); line >= 0; line = fields.next(FieldName.LINK, line)) {
            links.addLine(fields, line);
        }
        return ResponseHead.of(EARLY_HINTS, interim.reason(), links.build());
    }

    /** Builds the head of a 101, with Connection and Upgrade. */
    public static OutboundHead switched(OutboundHead head, ResponseHead from) {
        FieldSection.Builder fields = endToEnd(from.fields(), head.ownFields());
        fields.add(FieldName.CONNECTION, "Upgrade");
        fields.addLine(from.fields(), from.fields().find(FieldName.UPGRADE));
        return head.reset(from.status(), from.reason(), fields.buildLast());
    }

    /**
     * Builds the head of a final response.
     *
     * @param from the origin's head, after changes for the client such as the reverse map
     * @param nowMillis the wall-clock time, in epoch milliseconds; determines the age of a response whose fetch another
     *     exchange joined later
     * @param tags determines the tag fields that are removed for the client; null to pass all on
     * @param answersHead whether the request was HEAD; the head then contains the Content-Length of a response to GET
     */
    public static OutboundHead fetched(
            OutboundHead head,
            FetchedResponse response,
            ResponseHead from,
            long nowMillis,
            boolean answersHead,
            @Nullable TagRules tags) {
        FieldSection.Builder fields = endToEnd(from.fields(), head.ownFields(), tags);
        if (!from.fields().contains(FieldName.DATE)) {
            fields.add(FieldName.DATE, HttpDates.format(Math.floorDiv(response.responseMillis(), 1000L)));
        }
        int age = from.fields().find(FieldName.AGE);
        if (age >= 0 && response.selection() == null) {
            fields.addLine(from.fields(), age);
        }
        head.reset(from.status(), from.reason(), fields.buildLast());
        addAge(head, response, nowMillis);
        if (answersHead || from.status() == 304) {
            head.withoutContent().contentLength(declaredLength(from.fields()));
        } else {
            head.contentLength(response.contentLength());
        }
        return head;
    }

    /**
     * Adds Age if the origin sent one, or if the response was received some time before this request (RFC 9111 s5.1).
     */
    public static void addAge(OutboundHead head, FetchedResponse response, long nowMillis) {
        LazyStoredHead dated = response.selection();
        if (dated != null) {
            long age = dated.currentAgeSeconds(nowMillis);
            boolean hasAge = response.head().fields().contains(FieldName.AGE);
            head.ageSeconds(age > 0 || hasAge ? age : -1);
        }
    }

    private static FieldSection.Builder endToEnd(FieldSection from, FieldSection.Builder fields) {
        return endToEnd(from, fields, null);
    }

    private static FieldSection.Builder endToEnd(
            FieldSection from, FieldSection.Builder fields, @Nullable TagRules tags) {
        HopByHop hopByHop = HopByHop.of(from);
        for (int line = 0; line < from.size(); line++) {
            if (!hopByHop.contains(from, line)
                    && !REPLACED.contains(from, line)
                    && (tags == null || !tags.isRemoved(from, line))) {
                fields.addLine(from, line);
            }
        }
        return fields;
    }

    private static long declaredLength(FieldSection fields) {
        int line = fields.find(FieldName.CONTENT_LENGTH);
        if (line < 0) {
            return OutboundHead.LENGTH_UNKNOWN;
        }
        long length = 0;
        for (int i = fields.valueStart(line); i < fields.valueEnd(line); i++) {
            int digit = fields.bytes()[i] - '0';
            if (digit < 0 || digit > 9 || length > Long.MAX_VALUE / 10 - 1) {
                return OutboundHead.LENGTH_UNKNOWN;
            }
            length = length * 10 + digit;
        }
        return length;
    }
}
