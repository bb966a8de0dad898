package io.millrace.proxy.observe.log.live;

import io.millrace.proxy.observe.log.AccessLogFormat;
import io.millrace.proxy.observe.log.LineBuffer;
import io.millrace.proxy.observe.log.LineFormat;
import io.millrace.proxy.observe.log.LoggedRecord;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Writes records as JSON objects. The objects contain the members of the log format {@code json}, and members that
 * only the live log has. Not thread-safe.
 */
public final class RecordJson {
    /** Limit of bytes of the members that the log format lacks. */
    private static final int MORE_BYTES = 256;

    private static final Map<String, String> MEMBERS = members();

    private final LineFormat format = AccessLogFormat.JSON.lines(List.of());
    private final LineBuffer line = new LineBuffer(MORE_BYTES, format.maxLineBytes());

    /** Returns the members of the objects with their descriptions, in the order of the reference page. */
    public static Map<String, String> describedMembers() {
        return MEMBERS;
    }

    private static Map<String, String> members() {
        Map<String, String> members = new LinkedHashMap<>();
        members.put("time", "arrival of the first byte of the request, in UTC");
        members.put("method", "the method of the request");
        members.put("url", "the URL that the client requested, before remapping");
        members.put("status", "the status sent to the client; 0 if none was sent");
        members.put("cache", "the cache result: `hit`, `uri-miss`, `stale` and so on");
        members.put("result", "the result code of the format `squid`, such as `TCP_MISS`");
        members.put("detail", "`detail` of Cache-Status: why the origin failed, the rule or the limit");
        members.put("duration_us", "time from the first byte of the request to the last byte of the response, in µs");
        members.put("duration_ms", "the same time in whole milliseconds");
        members.put(
                "first_byte_us",
                "time from the first byte of the request to the first byte of the response, in µs; absent if the"
                        + " response came from RAM or from the proxy itself");
        members.put("bytes", "bytes sent to the client, head and body");
        members.put("body_bytes", "bytes of the body sent to the client");
        members.put("received_bytes", "bytes received from the client in a tunnel");
        members.put("type", "the field Content-Type of the response");
        members.put("client", "the client's address; absent for the role viewer");
        members.put("protocol", "the protocol of the request");
        members.put("user_agent", "the field User-Agent of the request");
        members.put("referer", "the field Referer of the request");
        members.put("origin", "the origin's host; absent if no origin was asked");
        members.put("origin_status", "the status of the origin's response");
        members.put("origin_protocol", "the protocol of the origin's response");
        members.put("tls", "the TLS version of the client's connection");
        members.put("cipher", "the cipher suite of the client's connection");
        members.put("sni", "the server name in the client's TLS hello");
        members.put("client_subject", "the subject of the client's certificate; absent for the role viewer");
        members.put("country", "the ISO 3166-1 code of the client's country; absent without geo.database");
        members.put("trace_id", "the id of the request's trace; absent while traces are off");
        members.put("number", "the number of the request in this list");
        return members;
    }

    /**
     * Returns a record as an object in ASCII.
     *
     * @param showsClient false to leave out the values that identify the client
     */
    public byte[] object(NumberedRecord numbered, boolean showsClient) {
        LoggedRecord logged = LoggedRecord.ofCopy(numbered.bytes());
        if (!showsClient) {
            logged.hideClient();
        }
        line.clear();
        format.append(logged, line);
        // Further members replace the closing brace and the line feed.
        line.truncate(line.length() - 2);
        member("duration_us", TimeUnit.NANOSECONDS.toMicros(logged.durationNanos()));
        if (logged.firstByteNanos() > 0) {
            member("first_byte_us", TimeUnit.NANOSECONDS.toMicros(logged.firstByteNanos()));
        }
        member("number", numbered.number());
        line.put('}');
        ByteBuffer written = line.unwritten();
        byte[] object = new byte[written.remaining()];
        written.duplicate().get(object);
        return object;
    }

    private void member(String name, long value) {
        line.putAscii(",\"");
        line.putAscii(name);
        line.putAscii("\":");
        line.putDecimal(value);
    }
}
