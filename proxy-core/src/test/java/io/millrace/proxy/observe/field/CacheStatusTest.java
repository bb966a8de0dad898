package io.millrace.proxy.observe.field;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class CacheStatusTest {
    private final CacheStatus status = new CacheStatus("millrace");

    @Test
    void rfc9211Section2_1_hitWithRemainingLifetime() {
        assertEquals("millrace; hit; ttl=376", written(out -> status.hit(out, 376)));
        assertEquals("millrace; hit; ttl=-412", written(out -> status.hit(out, -412)));
        assertEquals("millrace; hit; ttl=0", written(out -> status.hit(out, 0)));
        assertEquals("millrace; hit", written(status::hit));
    }

    @Test
    void rfc9211Section2_forwardedWithAllParameters() {
        byte[] key = "http://h/p".getBytes(StandardCharsets.US_ASCII);
        assertEquals(
                "millrace; fwd=uri-miss; fwd-status=200; ttl=60; stored; collapsed; key=\"http://h/p\"; detail=odd",
                written(out -> {
                    status.forwarded(out, ForwardReason.URI_MISS);
                    CacheStatus.forwardStatus(out, 200);
                    CacheStatus.ttl(out, 60);
                    CacheStatus.stored(out);
                    CacheStatus.collapsed(out);
                    CacheStatus.key(out, key, 0, key.length);
                    CacheStatus.detail(out, "odd");
                }));
    }

    @ParameterizedTest
    @EnumSource(ForwardReason.class)
    void rfc9211Section2_2_everyForwardReasonIsItsToken(ForwardReason reason) {
        assertEquals("millrace; fwd=" + reason.token(), written(out -> status.forwarded(out, reason)));
        assertEquals(reason.name().toLowerCase(java.util.Locale.ROOT).replace('_', '-'), reason.token());
    }

    @Test
    void rfc9651Section4_1_6_keyIsAStringWithAnyBytes() {
        byte[] key = {'a', '"', '\\', '\r', '\n', (byte) 0xe4, 0, '~', ' '};
        assertEquals("; key=\"a\\\"\\\\%0D%0A%E4%00~ \"", written(out -> CacheStatus.key(out, key, 0, key.length)));
        assertEquals("; key=\"\\\"\"", written(out -> CacheStatus.key(out, key, 1, 1)));
    }

    @Test
    void rfc9651Section4_1_7_aNameThatIsNoTokenIsQuoted() {
        assertEquals("\"edge 7\"; hit", written(new CacheStatus("edge 7")::hit));
        assertEquals("\"7edge\"; hit", written(new CacheStatus("7edge")::hit));
        assertEquals("\"a\\\"b\"; hit", written(new CacheStatus("a\"b")::hit));
        assertEquals("edge7.example.net:80; hit", written(new CacheStatus("edge7.example.net:80")::hit));
    }

    @Test
    void rfc9211Section2_8_detailIsATokenOrAString() {
        assertEquals("; detail=connect-timeout", written(out -> CacheStatus.detail(out, "connect-timeout")));
        assertEquals("; detail=\"503 from origin\"", written(out -> CacheStatus.detail(out, "503 from origin")));
        assertEquals("; detail=\"a\\\"b\\\\c??\"", written(out -> CacheStatus.detail(out, "a\"b\\c\n\u00e4")));
        assertEquals("; detail=\"\"", written(out -> CacheStatus.detail(out, "")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a\nb", "\u00e4", "\u007f"})
    void refusesNamesThatNoFieldCanHold(String name) {
        assertThrows(IllegalArgumentException.class, () -> new CacheStatus(name));
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 9, 10, 99, 100, 999_999_999_999L, Long.MAX_VALUE, -1, -10, -Long.MAX_VALUE})
    void writesEveryNumberInDecimal(long value) {
        assertEquals(Long.toString(value), written(out -> Decimal.write(out, value)));
    }

    @Test
    void growsASmallBuffer() {
        ByteBuf small = Unpooled.buffer(1);
        try {
            status.hit(small, 123456);
            assertEquals("millrace; hit; ttl=123456", small.toString(StandardCharsets.US_ASCII));
        } finally {
            small.release();
        }
    }

    private static String written(Consumer<ByteBuf> writer) {
        ByteBuf out = Unpooled.buffer();
        try {
            writer.accept(out);
            return out.toString(StandardCharsets.US_ASCII);
        } finally {
            out.release();
        }
    }
}
