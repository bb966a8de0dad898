package io.millrace.proxy.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class RecentHostTest {
    private final RecentHost recent = new RecentHost(false);

    @Test
    void theSameHostIsReadOnce() {
        TargetUri first = target("Host: Example.com:8080\r\n");
        TargetUri second = target("Host: Example.com:8080\r\n");
        assertEquals("example.com", second.host());
        assertEquals(8080, second.port());
        assertSame(first.hostBytes(), second.hostBytes());
    }

    @Test
    void anotherHostOrPortIsReadAnew() {
        assertEquals("a.example", target("Host: a.example\r\n").host());
        assertEquals("b.example", target("Host: b.example\r\n").host());
        assertEquals("b.exampl", target("Host: b.exampl\r\n").host());
        assertEquals(80, target("Host: b.example\r\n").port());
        assertEquals(81, target("Host: b.example:81\r\n").port());
        assertEquals(80, target("Host: b.example\r\n").port());
    }

    @Test
    void invalidHostsAreNotCached() {
        assertEquals(TargetProblem.HOST, read("Host: a b\r\n", 1));
        assertEquals(TargetProblem.HOST, read("Host: a b\r\n", 1));
        target("Host: a\r\n");
        assertEquals(TargetProblem.HOST_REPEATED, read("Host: a\r\nHost: a\r\n", 1));
        assertEquals(TargetProblem.HOST_MISSING, read("Accept: a\r\n", 1));
    }

    @Test
    void aMissingOrEmptyHostIsNotTheEarlierHost() {
        target("Host: a\r\n");
        assertEquals("", ((TargetUri) read("Accept: a\r\n", 0)).host());
        assertEquals(TargetProblem.HOST, read("Host:\r\n", 1));
        assertEquals("", ((TargetUri) read("Host:\r\n", 0)).host());
        assertEquals("a", target("Host: a\r\n").host());
    }

    @Test
    void anEmptyHostIsNoneForHttp11AlsoTheSecondTime() {
        assertEquals("", ((TargetUri) read("Host:\r\n", 0)).host());
        assertEquals(TargetProblem.HOST, read("Host:\r\n", 1));
    }

    @Test
    void aLongHostIsReadEachTime() {
        String host = "a".repeat(63) + ".example";
        TargetUri first = target("Host: " + host + "\r\n");
        TargetUri second = target("Host: " + host + "\r\n");
        assertEquals(host, second.host());
        assertNotSame(first.hostBytes(), second.hostBytes());
    }

    private TargetUri target(String fields) {
        return (TargetUri) read(fields, 1);
    }

    private TargetResult read(String fields, int minorVersion) {
        byte[] line = "/a".getBytes(StandardCharsets.ISO_8859_1);
        byte[] bytes = fields.getBytes(StandardCharsets.ISO_8859_1);
        FieldSection section = FieldSection.parse(bytes, 0, bytes.length);
        return TargetUri.parse(Method.GET, line, 0, line.length, section, minorVersion, recent);
    }
}
