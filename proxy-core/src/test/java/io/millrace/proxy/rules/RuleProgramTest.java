package io.millrace.proxy.rules;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.http1.Http1HeadWriter;
import io.millrace.proxy.net.ClientConnection;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RuleProgramTest {
    private static final byte[] WIRE =
            ("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nServer: o\r\nX-A: 1\r\nx-a: 2\r\n"
                            + "Content-Length: 0\r\n")
                    .getBytes(StandardCharsets.US_ASCII);

    private static final ClientConnection CLIENT =
            new ClientConnection(new InetSocketAddress("192.0.2.1", 1), new InetSocketAddress("192.0.2.2", 80), false);

    private final RequestView view = new RequestView(ZoneOffset.UTC);
    private final OutboundHead head = new OutboundHead();

    private static RuleProgram program(String rules) {
        ConfigResult result = ConfigLoader.parse(
                "listen: [':1']\nremap: [{map: /, to: 'http://o/'}]\nrules: " + rules, "m.yaml", Map.of());
        assertNotNull(result.config(), result::text);
        return RuleProgram.of(result.config().rules().general(), List.of());
    }

    private static RequestHead request(String url, String... fields) {
        FieldSection.Builder lines = FieldSection.builder();
        for (int i = 0; i < fields.length; i += 2) {
            lines.add(FieldName.of(fields[i]), fields[i + 1]);
        }
        return RequestHead.of("GET", (TargetUri) TargetUri.parseAbsolute(url), lines.build());
    }

    private RequestView at(long millis, RequestHead request) {
        return view.begin(request, CLIENT, millis, 50);
    }

    private String delivered(RuleProgram program, RequestHead request) {
        head.resetWire(200, WIRE, true);
        program.deliver(at(0, request).answered(head, "hit"), head);
        ByteBuf out = Unpooled.buffer();
        Http1HeadWriter.write(head, Http1HeadWriter.Framing.LENGTH, Http1HeadWriter.Persistence.DEFAULT, out);
        return out.toString(StandardCharsets.US_ASCII);
    }

    @Test
    void removedLinesOfAStoredHeadAreLeftOutWhereverTheyStand() {
        RequestHead request = request("http://a.example/");
        assertEquals(
                "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nServer: o\r\nContent-Length: 0\r\n\r\n",
                delivered(program("[{remove_response_header: [X-a]}]"), request));
        assertEquals(
                "HTTP/1.1 200 OK\r\nServer: o\r\nX-A: 1\r\nx-a: 2\r\nContent-Length: 0\r\nX-B: c\r\n\r\n",
                delivered(
                        program("[{remove_response_header: [Cache-Control], set_response_header: {X-B: c}}]"),
                        request));
        assertEquals(
                new String(WIRE, StandardCharsets.US_ASCII) + "\r\n",
                delivered(program("[{remove_response_header: [Via]}]"), request));
    }

    @Test
    void laterRulesChangeTheFieldsOfEarlierOnes() {
        assertEquals(
                "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nServer: o\r\nContent-Length: 0\r\nX-B: 1\r\nX-A: d\r\n"
                        + "\r\n",
                delivered(
                        program("[{add_response_header: {X-A: b, X-B: 1}}, {set_response_header: {x-a: c}},"
                                + " {when: 'method == \"GET\"', remove_response_header: [x-A],"
                                + " add_response_header: {X-A: d}}]"),
                        request("http://a.example/")));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "time >= 8h && time < 9h | 1970-01-01T08:30:00Z | true",
                "time >= 8h && time < 9h | 1970-01-01T09:00:00Z | false",
                "weekday == 4 | 1970-01-01T00:00:00Z | true",
                "weekday == 3 | 1969-12-31T23:59:59Z | true",
                "weekday == 6 | 2026-11-28T12:00:00Z | true",
                "random == 50 | 1970-01-01T00:00:00Z | true",
                "client == \"192.0.2.0/24\" | 1970-01-01T00:00:00Z | true",
                "client != \"192.0.2.0/24\" | 1970-01-01T00:00:00Z | false",
                "client in (\"::1\", \"192.0.2.1\") | 1970-01-01T00:00:00Z | true",
                "port == 8080 && scheme == \"HTTPS\" | 1970-01-01T00:00:00Z | true",
                "param[\"a\"] in (\"\", \"c\") && param[\"b\"] != \"x\" | 1970-01-01T00:00:00Z | true",
                "param[\"A\"] == \"c\" | 1970-01-01T00:00:00Z | false",
                "cookie[\"s\"] == \"1\" && cookie[\"t\"] == \"2=3\" | 1970-01-01T00:00:00Z | true",
                "cookie[\"u\"] =~ \"\" | 1970-01-01T00:00:00Z | false",
                "path == \"/p/~q\" && query == \"a=c&b\" | 1970-01-01T00:00:00Z | true",
                "protocol == \"http/1.1\" && host == \"a.example\" | 1970-01-01T00:00:00Z | true",
            })
    void conditionsReadTheRequest(String when, String time, boolean holds) {
        RuleProgram program = program("[{when: '" + when + "', answer: {status: 403}}]");
        RequestHead request = request("https://A.example:8080/p/%7Eq?a=c&b", "Cookie", "s=1; t=2=3");
        RequestView facts = at(java.time.Instant.parse(time).toEpochMilli(), request);
        assertEquals(holds, program.onRequest()[0].matches(facts));
    }

    /** Five rules on a hit, whose conditions read no text, allocate nothing. */
    @Test
    void rulesWithConstantFieldsAllocateNothing() {
        RuleProgram program = program("[{set_response_header: {X-A: b}}, {remove_response_header: [Server]},"
                + " {when: 'status == 200', set_response_header: {X-B: c}},"
                + " {when: 'method == \"GET\" && cache == \"hit\"', add_response_header: {X-C: d}},"
                + " {when: 'client == \"192.0.2.0/24\"', set_response_header: {X-D: e}}]");
        RequestHead request = request("http://a.example/");
        ByteBuf out = Unpooled.buffer(4096);
        long least = Long.MAX_VALUE;
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        for (int round = 0; round < 20; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 1000; i++) {
                head.resetWire(200, WIRE, true);
                program.deliver(at(0, request).answered(head, "hit"), head);
                Http1HeadWriter.write(
                        head, Http1HeadWriter.Framing.LENGTH, Http1HeadWriter.Persistence.DEFAULT, out.clear());
                view.end();
            }
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertTrue(least < 1000, "bytes for 1000 responses: " + least);
    }
}
