package io.millrace.proxy.fetch.response;

import io.millrace.proxy.http.FieldLexer;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http.forward.UpgradeFields;
import org.jspecify.annotations.Nullable;

/**
 * The framing of a response's content, or the reason why it is ambiguous (RFC 9112 s6.3, s6.1, s9.3).
 *
 * <p>Where the RFC permits a recipient either to repair a response or to refuse it, this class refuses. If another
 * parser splits a response differently, attackers can use the response for response smuggling.
 *
 * <p>Immutable.
 */
public sealed interface FramingDecision {

    /** The framing is unambiguous. {@code reusable} is true if the connection persists after the response. */
    record Framed(ResponseFraming framing, boolean reusable) implements FramingDecision {}

    /** The framing is ambiguous or invalid. */
    record Rejected(String problem) implements FramingDecision {}

    /**
     * Decides about one response, interim or final.
     *
     * @param upgrade the protocols that its request offered; null for none
     */
    static FramingDecision of(ResponseHead head, boolean toHeadRequest, @Nullable String upgrade) {
        FieldSection fields = head.fields();
        if (head.status() == 101) {
            String problem = switchProblem(head, upgrade);
            return problem.isEmpty() ? new Framed(ResponseFraming.NO_CONTENT, false) : new Rejected(problem);
        }
        int transferEncoding = fields.find(FieldName.TRANSFER_ENCODING);
        int contentLength = fields.find(FieldName.CONTENT_LENGTH);
        long length = 0;
        if (contentLength >= 0) {
            if (fields.next(FieldName.CONTENT_LENGTH, contentLength) >= 0) {
                return new Rejected("repeated Content-Length: " + fields.joined(FieldName.CONTENT_LENGTH));
            }
            length =
                    FieldLexer.number(fields.bytes(), fields.valueStart(contentLength), fields.valueEnd(contentLength));
            if (length == FieldLexer.NOT_A_NUMBER || length == Long.MAX_VALUE) {
                return new Rejected("Content-Length is not a length: " + fields.value(contentLength));
            }
        }
        if (transferEncoding >= 0) {
            String problem = transferEncodingProblem(head, transferEncoding, contentLength >= 0);
            if (!problem.isEmpty()) {
                return new Rejected(problem);
            }
        }
        boolean persists = persists(head);
        if (toHeadRequest || head.isInterim() || head.status() == 204 || head.status() == 304) {
            // An origin that announces content in a 204 may actually send it, so the connection is not reused.
            boolean doubtful = head.status() == 204 && length > 0;
            return new Framed(ResponseFraming.NO_CONTENT, persists && !doubtful);
        }
        if (transferEncoding >= 0) {
            return new Framed(ResponseFraming.BY_CHUNKS, persists);
        }
        if (contentLength >= 0) {
            return new Framed(new ResponseFraming(ResponseFraming.Kind.LENGTH, length), persists);
        }
        return new Framed(ResponseFraming.BY_CLOSE, false);
    }

    /** Returns the reason why a 101 cannot switch protocols (RFC 9110 s7.8); empty when it can. */
    private static String switchProblem(ResponseHead head, @Nullable String upgrade) {
        FieldSection fields = head.fields();
        if (upgrade == null) {
            return "101 without a request to upgrade";
        }
        if (!UpgradeFields.isIn(fields, head.minorVersion())) {
            return "101 without Upgrade, or without Connection: upgrade";
        }
        if (UpgradeFields.chosen(fields, upgrade) == null) {
            return "101 to a protocol that was not offered: " + fields.joined(FieldName.UPGRADE);
        }
        return fields.contains(FieldName.CONTENT_LENGTH) || fields.contains(FieldName.TRANSFER_ENCODING)
                ? "101 with content"
                : "";
    }

    private static String transferEncodingProblem(ResponseHead head, int line, boolean withContentLength) {
        FieldSection fields = head.fields();
        if (withContentLength) {
            return "Transfer-Encoding together with Content-Length";
        }
        if (head.minorVersion() == 0) {
            return "Transfer-Encoding in HTTP/1.0";
        }
        if (head.isInterim() || head.status() == 204) {
            return "Transfer-Encoding in a response without content: " + head.status();
        }
        if (fields.next(FieldName.TRANSFER_ENCODING, line) >= 0 || !fields.valueEqualsIgnoreCase(line, "chunked")) {
            return "Transfer-Encoding other than chunked: " + fields.joined(FieldName.TRANSFER_ENCODING);
        }
        return "";
    }

    private static boolean persists(ResponseHead head) {
        FieldSection fields = head.fields();
        if (fields.hasToken(FieldName.CONNECTION, "close")) {
            return false;
        }
        return head.minorVersion() == 1 || fields.hasToken(FieldName.CONNECTION, "keep-alive");
    }
}
