package io.millrace.proxy;

import static io.millrace.proxy.http2.Http2Client.RST_STREAM;
import static io.millrace.proxy.http2.Http2Client.number;
import static io.millrace.proxy.http2.Http2Client.request;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.origins.Http2Keys;
import io.millrace.proxy.http2.Http2Client;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests requests over HTTP/2 in the access log: protocol, result codes, status and bytes. */
class Http2LogTest {
    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private List<String> read(Path file) {
        try {
            return Files.exists(file) ? Files.readAllLines(file, StandardCharsets.US_ASCII) : List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String line(Path file, int number) {
        ProxyExtension.await("line " + number + " of the log", () -> read(file).size() >= number);
        return read(file).get(number - 1);
    }

    @Test
    void linesSayProtocolResultAndBytes() throws Exception {
        Path file = directory.resolve("access.log");
        CountDownLatch go = new CountDownLatch(1);
        proxy.start(
                request -> {
                    if (request.has(" /slow ")) {
                        go.await();
                    }
                    request.ok("Cache-Control: max-age=60\r\n", RawInput.latin1("hello"));
                },
                config -> config.listen(
                                "127.0.0.1:0",
                                ConfigValues.builder()
                                        .set(Http2Keys.LISTEN_CLEAR, true)
                                        .build())
                        .set("log.access.enabled", "true")
                        .set("log.access.path", file.toString())
                        .set("log.access.format", "%<cqpv> %<cqhm> %<cquup> %<crc>/%<chm> %<pssc>/%<sssc> %<pscl>"));
        try (Http2Client client = new Http2Client(proxy.proxy().addresses().get(1))) {
            client.get(1, "/a").response(1);
            assertEquals("HTTP/2.0 GET /a TCP_MISS/MISS_COLD 200/200 5", line(file, 1));
            client.get(3, "/a").response(3);
            assertEquals("HTTP/2.0 GET /a TCP_MEM_HIT/HIT_RAM 200/000 5", line(file, 2));
            client.headers(5, true, request("HEAD", "/a")).response(5);
            assertEquals("HTTP/2.0 HEAD /a TCP_MEM_HIT/HIT_RAM 200/000 0", line(file, 3));
            client.get(7, "/a", "range", "bytes=1-2").response(7);
            assertEquals("HTTP/2.0 GET /a TCP_MEM_HIT/HIT_RAM 206/000 2", line(file, 4));
            client.get(9, "/a", "Accept", "*/*").await(RST_STREAM);
            assertEquals("- - - ERR_INVALID_REQ/MISS_NONE 400/000 0", line(file, 5));
            client.get(11, "/a b").await(1);
            assertEquals("- - - ERR_INVALID_URL/MISS_NONE 400/000 0", line(file, 6));
            client.get(13, "/slow");
            ProxyExtension.await("the origin's request", () -> proxy.origin().requests() == 2);
            client.frame(RST_STREAM, 0, 13, number(8));
            assertEquals("HTTP/2.0 GET /slow ERR_CLIENT_ABORT/MISS_COLD 000/000 0", line(file, 7));
            client.headers(15, true, request("POST", "/a", "content-length", "5"))
                    .await(RST_STREAM);
            assertEquals("- - - ERR_INVALID_REQ/MISS_NONE 400/000 0", line(file, 8));
        } finally {
            go.countDown();
        }
    }
}
