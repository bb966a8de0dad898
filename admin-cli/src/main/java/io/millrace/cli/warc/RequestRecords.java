package io.millrace.cli.warc;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The latest HTTP requests of a WARC file. The keys are the identifiers of a request's record and of the records of the
 * same exchange. Confined to one thread.
 */
public final class RequestRecords {
    /** Limit of identifiers; beyond it the oldest is dropped. A request usually has two or more identifiers. */
    static final int IDS_MAX = 64;

    private static final int HEAD_BYTES_MAX = 32 << 10;
    /**
     * Names of request fields that never select a variant of a response. They are left out of {@link Request#fields}.
     */
    private static final List<String> NOT_SELECTING = List.of("", "host", "connection", "content-length");

    private final Map<String, Request> requests = new LinkedHashMap<>();

    /**
     * A request. Immutable.
     *
     * @param fields lines {@code Name: value}, without Host and fields that belong to the connection
     */
    public record Request(String method, List<String> fields) {}

    /**
     * Reads a record of type request to its end. Ignores the request if its head is longer than 32 KiB or not valid, or
     * if its digest is wrong.
     *
     * @throws IOException if the record cannot be read, or if the file ends inside the record
     */
    public void add(WarcReader warc, WarcReader.Head head) throws IOException {
        byte[] bytes = warc.readHttpHead(HEAD_BYTES_MAX);
        warc.skip();
        if (bytes == null || !warc.isIntact(head)) {
            return;
        }
        String[] lines = new String(bytes, StandardCharsets.ISO_8859_1).split("\r\n", -1);
        int methodEnd = lines[0].indexOf(' ');
        if (methodEnd <= 0) {
            return;
        }
        List<String> fields = new ArrayList<>();
        for (int i = 1; i < lines.length; i++) {
            int colon = lines[i].indexOf(':');
            String name = colon < 0 ? "" : lines[i].substring(0, colon).strip().toLowerCase(Locale.ROOT);
            if (!NOT_SELECTING.contains(name)) {
                fields.add(lines[i]);
            }
        }
        Request request = new Request(lines[0].substring(0, methodEnd), List.copyOf(fields));
        requests.put(head.field("warc-record-id"), request);
        for (String id : concurrent(head)) {
            requests.put(id, request);
        }
        requests.remove("");
        while (requests.size() > IDS_MAX) {
            requests.remove(requests.keySet().iterator().next());
        }
    }

    /** Returns the request that belongs to a record of type response; null if the request is not known. */
    public @Nullable Request of(WarcReader.Head response) {
        for (String id : concurrent(response)) {
            Request request = requests.get(id);
            if (request != null) {
                return request;
            }
        }
        return requests.get(response.field("warc-record-id"));
    }

    /** Returns the identifiers of the records that belong to the same exchange; WARC 1.1, section 5.7. */
    private static String[] concurrent(WarcReader.Head head) {
        return head.field("warc-concurrent-to").split(" ", -1);
    }
}
