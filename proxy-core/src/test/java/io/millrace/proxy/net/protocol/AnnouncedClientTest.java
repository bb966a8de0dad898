package io.millrace.proxy.net.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.access.AnnouncedClient;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests PROXY headers to origins: the written bytes, and that the decoder of this proxy reads them. */
final class AnnouncedClientTest {
    private static InetSocketAddress address(String ip, int port) throws UnknownHostException {
        return new InetSocketAddress(InetAddress.getByName(ip), port);
    }

    @ParameterizedTest
    @CsvSource({
        "192.0.2.1, 198.51.100.1, PROXY TCP4 192.0.2.1 198.51.100.1 56324 443, "
                + "0d0a0d0a000d0a515549540a 21 11 000c c0000201 c6336401 dc04 01bb",
        "2001:db8::1, 2001:db8::2, PROXY TCP6 2001:db8::1 2001:db8::2 56324 443, "
                + "0d0a0d0a000d0a515549540a 21 21 0024 20010db8000000000000000000000001 20010db8000000000000000000000002 dc04 01bb",
        "2001:db8::1, 198.51.100.1, PROXY TCP6 2001:db8::1 ::ffff:c633:6401 56324 443, "
                + "0d0a0d0a000d0a515549540a 21 21 0024 20010db8000000000000000000000001 00000000000000000000ffffc6336401 dc04 01bb"
    })
    void headerNamesBothEnds(String client, String local, String line, String binary) throws Exception {
        InetSocketAddress source = address(client, 56324);
        byte[] text = AnnouncedClient.header(1, source, address(local, 443));
        assertEquals(line + "\r\n", new String(text, StandardCharsets.US_ASCII));
        assertEquals(
                source, ProxyHeader.parse(Unpooled.wrappedBuffer(text), 536).client());
        byte[] bytes = AnnouncedClient.header(2, source, address(local, 443));
        assertEquals(binary.replace(" ", ""), ByteBufUtil.hexDump(bytes));
        ProxyHeader read = ProxyHeader.parse(Unpooled.wrappedBuffer(bytes), 536);
        assertEquals(source, read.client());
        assertEquals(bytes.length, read.length());
    }

    @Test
    void headerOfAConnectionWithoutAnAddressIsUnknown() throws Exception {
        InetSocketAddress none = InetSocketAddress.createUnresolved("somewhere", 1);
        InetSocketAddress local = address("192.0.2.1", 80);
        assertEquals(
                "PROXY UNKNOWN\r\n", new String(AnnouncedClient.header(1, none, local), StandardCharsets.US_ASCII));
        assertEquals("0d0a0d0a000d0a515549540a20000000", ByteBufUtil.hexDump(AnnouncedClient.header(2, none, local)));
    }
}
