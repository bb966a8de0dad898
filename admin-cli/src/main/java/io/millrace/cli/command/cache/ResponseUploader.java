package io.millrace.cli.command.cache;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonObject;
import io.millrace.cli.client.JsonTree;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.log.LogFailure;
import io.millrace.cli.render.cache.CopyReport;
import io.millrace.cli.warc.RequestRecords;
import io.millrace.cli.warc.Spool;
import io.millrace.cli.warc.WarcDigest;
import io.millrace.cli.warc.WarcReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Sends the responses of a WARC file to the admin API. Completes an upload only if the digest of the WARC record is
 * right. Confined to one thread.
 */
final class ResponseUploader {
    /** Reason for leaving out a response: its digest is wrong. */
    static final String DIGEST = "digest";

    /** Reason for leaving out a response: its Content-Length is not the length of its content. */
    static final String LENGTH = "length";

    private static final String NO_REQUEST = "no-request";
    /**
     * Reason for leaving out a response: it precedes its request, and no temporary file could be written to keep it.
     */
    static final String TEMPORARY_FILE = "temporary-file";

    private static final String UNFINISHED = "unfinished";
    private static final int HEAD_BYTES_MAX = 32 << 10;
    /** Content up to this length is sent with its head; the request then stays below the limit of the admin API. */
    private static final int INLINE_BYTES_MAX = 12 << 10;

    private static final int INLINE_HEAD_BYTES_MAX = 16 << 10;
    private static final int PART_BYTES = 60 << 10;
    /** Limit of a response that waits for its request, in bytes of a temporary file. */
    private static final long WAITING_BYTES_MAX = 1L << 30;

    private final AdminClient client;
    private final WarcReader warc;
    private final CopyReport report;
    private final Function<AdminResponse, CommandFailure> failure;
    private final RequestRecords requests = new RequestRecords();
    private @Nullable String upload;
    private @Nullable WaitingResponse waiting;
    private @Nullable String temporaryFileProblem;

    /** A response that waits for its request record; its digest was verified. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record WaitingResponse(
            WarcReader.Head head, String url, byte[] http, Map<String, Object> members, Spool copy) {}

    /**
     * Creates the sender of a file.
     *
     * @param failure creates the failure for an error response
     */
    ResponseUploader(
            AdminClient client, WarcReader warc, CopyReport report, Function<AdminResponse, CommandFailure> failure) {
        this.client = client;
        this.warc = warc;
        this.report = report;
        this.failure = failure;
    }

    /** Reads a record. Sends a response, or the waiting response if this record is its request. */
    void record(WarcReader.Head head) throws IOException, AdminClientException, CommandFailure {
        String type = head.field("warc-type").toLowerCase(Locale.ROOT);
        if (type.equals("request")) {
            readRequest(head);
        } else if (type.equals("response")) {
            readResponse(head);
        }
    }

    private void readRequest(WarcReader.Head head) throws IOException, AdminClientException, CommandFailure {
        requests.add(warc, head);
        WaitingResponse response = waiting;
        RequestRecords.Request request = response == null ? null : requests.of(response.head());
        if (response == null || request == null) {
            return;
        }
        waiting = null;
        try (Spool copy = response.copy();
                ResponseContent content = ResponseContent.ofCopy(warc, response.head(), copy)) {
            send(response.url(), response.http(), with(request, response.members()), content);
        }
    }

    private void readResponse(WarcReader.Head head) throws IOException, AdminClientException, CommandFailure {
        leaveOutWaiting();
        String target = head.field("warc-target-uri");
        boolean isBracketed = target.startsWith("<") && target.endsWith(">");
        String url = isBracketed ? target.substring(1, target.length() - 1) : target;
        String refusal = refusal(head, url);
        byte[] http = refusal == null ? warc.readHttpHead(HEAD_BYTES_MAX) : null;
        if (refusal == null && http == null) {
            refusal = "bad-head";
        }
        Map<String, Object> members = http == null ? null : members(head, url, http, warc.left());
        if (refusal == null && members == null) {
            refusal = "bad-date";
        }
        if (refusal != null || members == null || http == null) {
            warc.skip();
            report.leftOut(String.valueOf(refusal), url);
            return;
        }
        RequestRecords.Request request = requests.of(head);
        if (request != null) {
            send(url, http, with(request, members), ResponseContent.ofRecord(warc, head));
        } else if (!head.field("millrace-exported").isEmpty()) {
            // Millrace has exported this response. It exports only responses to GET that do not depend on cookies or
            // credentials, so the request record is not needed.
            send(url, http, members, ResponseContent.ofRecord(warc, head));
        } else {
            keepUntilRequest(head, url, http, members);
        }
    }

    /** Keeps a copy of the response, since its request may be among the next records. */
    private void keepUntilRequest(WarcReader.Head head, String url, byte[] http, Map<String, Object> members)
            throws IOException {
        if (warc.left() > WAITING_BYTES_MAX) {
            warc.skip();
            report.leftOut(NO_REQUEST, url);
            return;
        }
        Spool copy = new Spool(temporaryDirectory());
        boolean isKept = false;
        try {
            if (!copy(copy)) {
                report.leftOut(TEMPORARY_FILE, url);
            } else if (warc.isIntact(head)) {
                waiting = new WaitingResponse(head, url, http, members, copy);
                isKept = true;
            } else {
                report.leftOut(DIGEST, url);
            }
        } finally {
            if (!isKept) {
                copy.close();
            }
        }
    }

    private static Path temporaryDirectory() {
        return Path.of(System.getProperty("java.io.tmpdir", "/tmp"));
    }

    /**
     * Returns the first problem of writing temporary files, with their directory; null if there was no problem.
     */
    @Nullable
    String temporaryFileProblem() {
        return temporaryFileProblem;
    }

    /** Copies the content of the current record. Returns false if the temporary file cannot be written. */
    private boolean copy(Spool to) throws IOException {
        while (warc.left() > 0) {
            byte[] part = warc.readFully(PART_BYTES);
            try {
                to.add(part);
            } catch (IOException e) {
                if (temporaryFileProblem == null) {
                    temporaryFileProblem = temporaryDirectory() + ": " + LogFailure.reason(e);
                }
                warc.skip();
                return false;
            }
        }
        return true;
    }

    private void leaveOutWaiting() throws IOException {
        WaitingResponse response = waiting;
        waiting = null;
        if (response != null) {
            report.leftOut(NO_REQUEST, response.url());
            response.copy().close();
        }
    }

    private static Map<String, Object> with(RequestRecords.Request request, Map<String, Object> members) {
        members.put("request_fields", request.fields());
        if (!request.method().equals("GET")) {
            members.put("request_method", request.method());
        }
        return members;
    }

    private void send(String url, byte[] http, Map<String, Object> members, ResponseContent content)
            throws IOException, AdminClientException, CommandFailure {
        long length = content.left();
        String reason = length <= INLINE_BYTES_MAX && http.length <= INLINE_HEAD_BYTES_MAX
                ? whole(content, members)
                : inParts(content, members);
        if (reason == null) {
            report.copied(length);
        } else {
            report.leftOut(reason, url);
        }
    }

    private static @Nullable String refusal(WarcReader.Head head, String url) {
        String lower = url.toLowerCase(Locale.ROOT);
        if (!lower.startsWith("http://") && !lower.startsWith("https://")) {
            return "not-http";
        }
        String type = head.field("content-type").toLowerCase(Locale.ROOT).replace(" ", "");
        if (!type.startsWith("application/http")) {
            return "not-http";
        }
        boolean isCut = !head.field("warc-truncated").isEmpty()
                || !head.field("warc-segment-number").isEmpty();
        return isCut ? "partial" : null;
    }

    /** Returns the JSON members of the import request; null if the record has no valid date. */
    private static @Nullable Map<String, Object> members(WarcReader.Head head, String url, byte[] http, long length) {
        long received = millis(head.field("warc-date"));
        long exported = millis(head.field("millrace-exported"));
        long requested = millis(head.field("millrace-requested"));
        if (received < 0) {
            return null;
        }
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("url", url);
        members.put("head", Base64.getEncoder().encodeToString(http));
        members.put("length", length);
        members.put("age_seconds", Math.max(0, exported < 0 ? age(http) : number(head.field("millrace-age"))));
        members.put("requested_at_ms", requested < 0 ? received : requested);
        members.put("exported_at_ms", exported < 0 ? received : exported);
        long lifetime = number(head.field("millrace-lifetime"));
        if (lifetime >= 0) {
            members.put("freshness_lifetime_seconds", lifetime);
        }
        String tags = head.field("millrace-tags");
        if (!tags.isEmpty()) {
            members.put("tags", tags);
        }
        return members;
    }

    private static long millis(String date) {
        try {
            return date.isEmpty() ? -1 : Math.max(-1, Instant.parse(date).toEpochMilli());
        } catch (DateTimeException | ArithmeticException e) {
            return -1;
        }
    }

    private static long number(String digits) {
        try {
            return digits.isEmpty() || digits.length() > 12 ? -1 : Long.parseLong(digits);
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    /** Returns the value of the field Age in a head, in seconds; 0 without the field. */
    private static long age(byte[] http) {
        for (String line : new String(http, StandardCharsets.ISO_8859_1).split("\r\n", -1)) {
            if (line.regionMatches(true, 0, "age:", 0, 4)) {
                return number(line.substring(4).strip());
            }
        }
        return 0;
    }

    /** Sends head and content in one request. Returns the reason if the response is not stored. */
    private @Nullable String whole(ResponseContent from, Map<String, Object> members)
            throws IOException, AdminClientException, CommandFailure {
        byte[] content = from.readFully(INLINE_BYTES_MAX);
        if (!from.isIntact()) {
            return DIGEST;
        }
        WarcDigest digest = WarcDigest.sha256();
        digest.update(content, 0, content.length);
        members.put("content", Base64.getEncoder().encodeToString(content));
        members.put("sha256", Base64.getEncoder().encodeToString(digest.bytes()));
        return reason(client.post("/v1/cache/import", json(members)));
    }

    private @Nullable String inParts(ResponseContent from, Map<String, Object> members)
            throws IOException, AdminClientException, CommandFailure {
        AdminResponse begun = client.post("/v1/cache/import", json(members));
        String reason = reason(begun);
        upload = begun.isSuccess() ? begun.json().text("upload") : null;
        if (upload == null) {
            from.skip();
            return reason;
        }
        WarcDigest digest = WarcDigest.sha256();
        long position = 0;
        while (from.left() > 0) {
            byte[] part = from.readFully(PART_BYTES);
            digest.update(part, 0, part.length);
            reason = reason(client.post("/v1/cache/import/content?upload=" + upload + "&position=" + position, part));
            if (reason != null && !reason.equals(UNFINISHED)) {
                upload = null;
                from.skip();
                return reason;
            }
            position += part.length;
        }
        if (!from.isIntact()) {
            abort();
            return DIGEST;
        }
        String id = upload;
        upload = null;
        Map<String, Object> end = Map.of("sha256", Base64.getEncoder().encodeToString(digest.bytes()));
        return reason(client.post("/v1/cache/import/end?upload=" + id, json(end)));
    }

    /** Returns null if the response is stored, else the reason, or {@link #UNFINISHED} during an upload. */
    private @Nullable String reason(AdminResponse response) throws AdminClientException, CommandFailure {
        if (response.isSuccess()) {
            JsonObject progress = response.json();
            return progress.isTrue("stored") ? null : progress.text("reason", UNFINISHED);
        }
        String code = response.json().object("error").text("code", "");
        if (List.of("unknown-upload", "head-too-large", "bad-url", "too-large").contains(code)) {
            return code;
        }
        throw failure.apply(response);
    }

    /** Ends the upload in progress, if any, without storing, and leaves out the response that waits for its request. */
    void finish() throws AdminClientException, IOException {
        leaveOutWaiting();
        abort();
    }

    private void abort() throws AdminClientException {
        String id = upload;
        upload = null;
        if (id != null) {
            client.post("/v1/cache/import/abort?upload=" + id, json(Map.of()));
        }
    }

    private static byte[] json(Map<String, Object> members) {
        return JsonTree.object(json -> members.forEach((name, value) -> {
            if (value instanceof Long number) {
                json.number(name, number);
            } else if (value instanceof List<?> list) {
                List<String> texts = new ArrayList<>();
                list.forEach(each -> texts.add(String.valueOf(each)));
                json.texts(name, texts);
            } else {
                json.text(name, String.valueOf(value));
            }
        }));
    }
}
