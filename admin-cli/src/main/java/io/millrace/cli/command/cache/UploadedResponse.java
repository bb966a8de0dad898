package io.millrace.cli.command.cache;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonObject;
import io.millrace.cli.client.JsonTree;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.render.cache.CopyReport;
import io.millrace.cli.warc.WarcDigest;
import io.millrace.cli.warc.WarcReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
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

/** Sends the responses of a WARC file to the admin API, each after its digest was verified. Confined to one thread. */
final class UploadedResponse {
    /** The reason for a wrong digest. */
    static final String DIGEST = "digest";

    /** The reason for a length that is not that of the content. */
    static final String LENGTH = "length";

    private static final String UNFINISHED = "unfinished";
    private static final int HEAD_BYTES_MAX = 32 << 10;
    /** Content up to this length is sent with its head; the request then stays below the limit of the admin API. */
    private static final int INLINE_BYTES_MAX = 12 << 10;

    private static final int INLINE_HEAD_BYTES_MAX = 16 << 10;
    private static final int PART_BYTES = 60 << 10;
    /** Limit of request records that wait for their response. */
    private static final int REQUESTS_MAX = 64;

    private final AdminClient client;
    private final WarcReader warc;
    private final CopyReport report;
    private final Function<AdminResponse, CommandFailure> failure;
    private final Map<String, List<String>> requests = new LinkedHashMap<>();
    private @Nullable String upload;

    /**
     * Creates the sender of a file.
     *
     * @param failure creates the failure for an error response
     */
    UploadedResponse(
            AdminClient client, WarcReader warc, CopyReport report, Function<AdminResponse, CommandFailure> failure) {
        this.client = client;
        this.warc = warc;
        this.report = report;
        this.failure = failure;
    }

    /** Reads a record, and sends it if it is a response. */
    void record(WarcReader.Head head) throws IOException, AdminClientException, CommandFailure {
        String type = head.field("warc-type").toLowerCase(Locale.ROOT);
        if (type.equals("request")) {
            request(head);
        } else if (type.equals("response")) {
            response(head);
        }
    }

    private void request(WarcReader.Head head) throws IOException {
        byte[] bytes = warc.readHttpHead(HEAD_BYTES_MAX);
        warc.skip();
        if (bytes == null || !warc.isIntact(head)) {
            return;
        }
        List<String> fields = new ArrayList<>();
        String[] lines = new String(bytes, StandardCharsets.ISO_8859_1).split("\r\n", -1);
        for (int i = 1; i < lines.length; i++) {
            int colon = lines[i].indexOf(':');
            String name = colon < 0 ? "" : lines[i].substring(0, colon).strip().toLowerCase(Locale.ROOT);
            if (!List.of("", "host", "connection", "content-length").contains(name)) {
                fields.add(lines[i]);
            }
        }
        for (String id : List.of(head.field("warc-record-id"), head.field("warc-concurrent-to"))) {
            if (!id.isEmpty()) {
                requests.put(id, List.copyOf(fields));
            }
        }
        while (requests.size() > REQUESTS_MAX) {
            requests.remove(requests.keySet().iterator().next());
        }
    }

    private void response(WarcReader.Head head) throws IOException, AdminClientException, CommandFailure {
        String target = head.field("warc-target-uri");
        boolean isBracketed = target.startsWith("<") && target.endsWith(">");
        String url = isBracketed ? target.substring(1, target.length() - 1) : target;
        String refusal = refusal(head, url);
        byte[] http = refusal == null ? warc.readHttpHead(HEAD_BYTES_MAX) : null;
        if (refusal == null && http == null) {
            refusal = "bad-head";
        }
        Map<String, Object> members = http == null ? null : members(head, url, http);
        if (refusal == null && members == null) {
            refusal = "bad-date";
        }
        if (refusal != null || members == null || http == null) {
            warc.skip();
            report.leftOut(String.valueOf(refusal), url);
            return;
        }
        long length = warc.left();
        String reason = length <= INLINE_BYTES_MAX && http.length <= INLINE_HEAD_BYTES_MAX
                ? whole(head, members)
                : inParts(head, members);
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

    /** Returns the members of the request; null if the record has no valid date. */
    private @Nullable Map<String, Object> members(WarcReader.Head head, String url, byte[] http) {
        long received = millis(head.field("warc-date"));
        long exported = millis(head.field("millrace-exported"));
        long requested = millis(head.field("millrace-requested"));
        if (received < 0) {
            return null;
        }
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("url", url);
        members.put("head", Base64.getEncoder().encodeToString(http));
        List<String> fields = requests.get(head.field("warc-concurrent-to"));
        if (fields == null) {
            fields = requests.get(head.field("warc-record-id"));
        }
        if (fields != null) {
            members.put("request_fields", fields);
        }
        members.put("length", warc.left());
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

    /** The value of Age in a head. */
    private static long age(byte[] http) {
        for (String line : new String(http, StandardCharsets.ISO_8859_1).split("\r\n", -1)) {
            if (line.regionMatches(true, 0, "age:", 0, 4)) {
                return number(line.substring(4).strip());
            }
        }
        return 0;
    }

    /** Sends head and content in one request. Returns the reason if the response is not stored. */
    private @Nullable String whole(WarcReader.Head head, Map<String, Object> members)
            throws IOException, AdminClientException, CommandFailure {
        byte[] content = warc.readFully(INLINE_BYTES_MAX);
        if (!warc.isIntact(head)) {
            return DIGEST;
        }
        WarcDigest digest = WarcDigest.sha256();
        digest.update(content, 0, content.length);
        members.put("content", Base64.getEncoder().encodeToString(content));
        members.put("sha256", Base64.getEncoder().encodeToString(digest.bytes()));
        return reason(client.post("/v1/cache/import", json(members)));
    }

    private @Nullable String inParts(WarcReader.Head head, Map<String, Object> members)
            throws IOException, AdminClientException, CommandFailure {
        AdminResponse begun = client.post("/v1/cache/import", json(members));
        String reason = reason(begun);
        upload = begun.isSuccess() ? begun.json().text("upload") : null;
        if (upload == null) {
            warc.skip();
            return reason;
        }
        WarcDigest digest = WarcDigest.sha256();
        long position = 0;
        while (warc.left() > 0) {
            byte[] part = warc.readFully(PART_BYTES);
            digest.update(part, 0, part.length);
            reason = reason(client.post("/v1/cache/import/content?upload=" + upload + "&position=" + position, part));
            if (reason != null && !reason.equals(UNFINISHED)) {
                upload = null;
                warc.skip();
                return reason;
            }
            position += part.length;
        }
        if (!warc.isIntact(head)) {
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

    /** Ends an upload that is in progress, without storing. */
    void abort() throws AdminClientException {
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
