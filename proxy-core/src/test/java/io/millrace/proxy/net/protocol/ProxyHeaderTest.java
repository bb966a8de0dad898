package io.millrace.proxy.net.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.millrace.proxy.net.protocol.ProxyHeader.Kind;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the recognition of PROXY headers, by section 2 of the specification. */
final class ProxyHeaderTest {
    private static final int MAX = 536;
    private static final String SIGNATURE = "0d0a0d0a000d0a515549540a";

    private static ProxyHeader text(String text) {
        return ProxyHeader.parse(
                Unpooled.copiedBuffer(text.replace("\\r", "\r").replace("\\n", "\n"), StandardCharsets.ISO_8859_1),
                MAX);
    }

    private static ProxyHeader hex(String hex) {
        return ProxyHeader.parse(Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump(hex.replace(" ", ""))), MAX);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\\r\\n, 192.0.2.1, 56324",
        "PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\\r\\n, 255.255.255.255, 65535",
        "PROXY TCP6 2001:db8::1 2001:db8::2 1 2\\r\\n, 2001:db8::1, 1",
        "PROXY TCP6 ffff:f...f:ffff ffff:f...f:ffff 65535 65535\\r\\n, ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff, 65535",
        "PROXY TCP6 ::ffff:192.0.2.1 ::1 1 2\\r\\n, 192.0.2.1, 1",
    })
    void version1NamesTheSource(String line, String address, int port) throws Exception {
        String full = line.replace("ffff:f...f:ffff", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
        ProxyHeader header = text(full + "GET / HTTP/1.1\\r\\n");
        assertEquals(Kind.COMPLETE, header.kind());
        assertEquals(full.replace("\\r\\n", "xx").length(), header.length());
        assertEquals(new InetSocketAddress(InetAddress.getByName(address), port), header.client());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "PROXY UNKNOWN\\r\\n",
                "PROXY TCP4 0.0.0.0 0.0.0.0 0 0\\r\\n",
                "PROXY UNKNOWN ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\\r\\n"
            })
    void unknownKeepsTheConnectionsOwnAddress(String line) {
        ProxyHeader header = text(line);
        assertEquals(Kind.COMPLETE, header.kind());
        assertNull(header.client());
        assertEquals(line.replace("\\r\\n", "xx").length(), header.length());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "PROXY \\r\\n",
                "PROXY TCP4\\r\\n",
                "PROXY TCP4 192.0.2.1 198.51.100.1 56324\\r\\n",
                "PROXY TCP4 192.0.2.1 198.51.100.1 56324 443 1\\r\\n",
                "PROXY TCP4  192.0.2.1 198.51.100.1 56324 443\\r\\n",
                "PROXY TCP4 192.0.2.1 198.51.100.1 56324 443 \\r\\n",
                "PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\\n",
                "PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\\rx",
                "PROXY TCP4 192.0.2.01 198.51.100.1 56324 443\\r\\n",
                "PROXY TCP4 192.0.2 198.51.100.1 56324 443\\r\\n",
                "PROXY TCP4 192.0.2.1 198.51.100.1 056324 443\\r\\n",
                "PROXY TCP4 192.0.2.1 198.51.100.1 65536 443\\r\\n",
                "PROXY TCP4 192.0.2.1 198.51.100.1 -1 443\\r\\n",
                "PROXY TCP4 192.0.2.1 198.51.100.1 +1 443\\r\\n",
                "PROXY TCP4 ::1 ::1 1 2\\r\\n",
                "PROXY TCP6 192.0.2.1 198.51.100.1 1 2\\r\\n",
                "PROXY TCP6 [::1] ::1 1 2\\r\\n",
                "PROXY TCP6 fe80::1%eth0 ::1 1 2\\r\\n",
                "PROXY TCP5 192.0.2.1 198.51.100.1 56324 443\\r\\n",
                "PROXY tcp4 192.0.2.1 198.51.100.1 56324 443\\r\\n",
                "PROXY UNKNOWNX\\r\\n",
                "PROXY TCP4 192.0.2.1\\t198.51.100.1 56324 443\\r\\n",
                "PROXY UNKNOWN ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535 \\r\\n",
                "PROXY TCP4 1111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111"
            })
    void otherLinesAreMalformed(String line) {
        assertEquals(Kind.MALFORMED, text(line.replace("\\t", "\t")).kind());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET / HTTP/1.1\\r\\n",
                "PROPFIND / HTTP/1.1",
                "\\r\\nGET",
                "proxy ",
                "PROXY\\r\\n",
                "\u0016\u0003\u0001"
            })
    void otherBytesAreNoHeader(String bytes) {
        assertEquals(Kind.NONE, text(bytes).kind());
    }

    @ParameterizedTest(name = "{0}: {2}:{3}")
    @CsvSource({
        "TCP over IPv4, 21 11 000c c0000201 c6336401 dc04 01bb, 192.0.2.1, 56324",
        "TCP over IPv6, 21 21 0024 20010db8000000000000000000000001 20010db8000000000000000000000002 0001 0002, 2001:db8::1, 1",
        "TLVs are passed over, 21 11 0013 c0000201 c6336401 dc04 01bb 03 0004 01020304, 192.0.2.1, 56324",
        "mapped address is IPv4, 21 21 0024 00000000000000000000ffffc0000201 00000000000000000000ffffc6336401 0001 0002, 192.0.2.1, 1"
    })
    void version2NamesTheSource(String what, String rest, String address, int port) throws Exception {
        ProxyHeader header = hex(SIGNATURE + rest + "474554");
        assertEquals(Kind.COMPLETE, header.kind());
        assertEquals((SIGNATURE + rest.replace(" ", "")).length() / 2, header.length());
        assertEquals(new InetSocketAddress(InetAddress.getByName(address), port), header.client());
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "no TLV, 21 11 000c c0000201 c6336401 dc04 01bb, false",
        "SSL TLV with PP2_CLIENT_SSL, 21 11 0014 c0000201 c6336401 dc04 01bb 20 0005 0100000000, true",
        "SSL TLV behind another, 21 11 0019 c0000201 c6336401 dc04 01bb 01 0002 6832 20 0005 0100000000, true",
        "SSL TLV without PP2_CLIENT_SSL, 21 11 0014 c0000201 c6336401 dc04 01bb 20 0005 0600000000, false",
        "SSL TLV that is empty, 21 11 000f c0000201 c6336401 dc04 01bb 20 0000, false",
        "TLV that overruns the header, 21 11 0014 c0000201 c6336401 dc04 01bb 20 0006 0100000000, false",
        "TLV head that is cut, 21 11 000e c0000201 c6336401 dc04 01bb 20 00, false",
        "SSL TLV over IPv6, 21 21 002c 20010db8000000000000000000000001 20010db8000000000000000000000002 0001 0002 20 0005 0100000000, true",
        "another type, 21 11 0014 c0000201 c6336401 dc04 01bb 21 0005 0100000000, false",
        "SSL TLV of LOCAL, 20 11 0014 c0000201 c6336401 dc04 01bb 20 0005 0100000000, false"
    })
    void sslTlvTellsIfTheClientUsedTls(String what, String rest, boolean secure) {
        ProxyHeader header = hex(SIGNATURE + rest);
        assertEquals(Kind.COMPLETE, header.kind());
        assertEquals(secure, header.secure());
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "LOCAL, 20 00 0000, 16",
        "LOCAL with addresses, 20 11 000c c0000201 c6336401 dc04 01bb, 28",
        "unspecified family, 21 00 0002 ffff, 18",
        "Unix socket, 21 31 0001 ff, 17"
    })
    void localAndUnknownKeepTheConnectionsOwnAddress(String what, String rest, int length) {
        ProxyHeader header = hex(SIGNATURE + rest);
        assertEquals(Kind.COMPLETE, header.kind());
        assertNull(header.client());
        assertEquals(length, header.length());
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "version 1, 11 11 000c c0000201 c6336401 dc04 01bb",
        "version 3, 31 11 000c c0000201 c6336401 dc04 01bb",
        "unknown command, 22 11 000c c0000201 c6336401 dc04 01bb",
        "addresses too short, 21 11 000b c0000201 c6336401 dc04 01",
        "IPv6 addresses too short, 21 21 000c c0000201 c6336401 dc04 01bb",
        "UDP, 21 12 000c c0000201 c6336401 dc04 01bb",
        "reserved family, 21 41 000c c0000201 c6336401 dc04 01bb",
        "longer than the limit, 21 11 0209"
    })
    void otherBinariesAreMalformed(String what, String rest) {
        assertEquals(Kind.MALFORMED, hex(SIGNATURE + rest).kind());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "50524f585920544350342031302e302e302e312031302e302e302e322031203220302031",
                "50524f585920544350342031302e302e302e312031302e302e302e3220312032 0d0a",
                SIGNATURE + "21 11 000c c0000201 c6336401 dc04 01bb",
                SIGNATURE + "21 11 0013 c0000201 c6336401 dc04 01bb 03 0004 01020304"
            })
    void everyBeginningOfAHeaderMayBecomeOne(String hex) {
        ByteBuf whole = Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump(hex.replace(" ", "")));
        for (int length = 0; length < whole.readableBytes(); length++) {
            ByteBuf part = whole.slice(0, length);
            assertEquals(Kind.INCOMPLETE, ProxyHeader.parse(part, MAX).kind(), () -> ByteBufUtil.hexDump(part));
        }
    }

    @Test
    void longestHeaderIsTheLimit() {
        String rest = "21 11 0208 c0000201 c6336401 dc04 01bb" + "00".repeat(0x208 - 12);
        assertEquals(MAX, hex(SIGNATURE + rest).length());
    }
}
