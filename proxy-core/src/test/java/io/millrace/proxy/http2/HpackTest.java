package io.millrace.proxy.http2;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http2.frame.ErrorCode;
import io.millrace.proxy.http2.frame.Http2Exception;
import io.millrace.proxy.http2.hpack.HpackDecoder;
import io.millrace.proxy.http2.hpack.HuffmanCode;
import io.millrace.proxy.http2.hpack.StaticTable;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests field blocks: the examples of RFC 7541, and invalid blocks. */
class HpackTest {
    private final HpackDecoder hpack = new HpackDecoder();
    private final RequestFields fields = new RequestFields();

    private RequestHead decode(String hex) throws Http2Exception {
        byte[] block = HexFormat.of().parseHex(hex.replace(" ", ""));
        fields.begin(65_536, false);
        hpack.decode(block, 0, block.length, fields);
        return fields.head(false);
    }

    private RequestHead decode(String... namesAndValues) throws Http2Exception {
        byte[] block = Http2Client.block(namesAndValues);
        fields.begin(65_536, false);
        hpack.decode(block, 0, block.length, fields);
        return fields.head(false);
    }

    /** RFC 7541 appendices C.3 and C.4: three requests on one connection, without and with Huffman code. */
    @ParameterizedTest
    @CsvSource({
        "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d, 8286 84be 5808 6e6f 2d63 6163 6865, "
                + "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
        "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff, 8286 84be 5886 a8eb 1064 9cbf, "
                + "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf"
    })
    void readsTheExamplesOfTheRfc(String first, String second, String third) throws Exception {
        RequestHead head = decode(first);
        assertEquals("GET http://www.example.com/ HTTP/2", head.toString());
        assertEquals("host: www.example.com\n", head.fields().toString());
        head = decode(second);
        assertEquals(
                "host: www.example.com\ncache-control: no-cache\n",
                head.fields().toString());
        head = decode(third);
        assertEquals("GET https://www.example.com/index.html HTTP/2", head.toString());
        assertEquals(
                "host: www.example.com\ncustom-key: custom-value\n",
                head.fields().toString());
    }

    @ParameterizedTest
    @CsvSource({
        "80, index 0",
        "be, index beyond both tables",
        "ff8080808080, integer without end",
        "ffffffffff7f, integer above the limit",
        "00, end within a field",
        "0005, end within a name",
        "00846161, string longer than the block",
        "0003616161 81ff, padding of eight ones",
        "0003616161 8100, padding of zeros",
        "0003616161 84ffffffff, EOS",
        "8220, size update behind a field",
        "3fe21f, size update above the limit"
    })
    void endsTheConnectionOver(String hex, String what) {
        Http2Exception error = assertThrows(Http2Exception.class, () -> decode(hex), what);
        assertEquals(ErrorCode.COMPRESSION_ERROR, error.code());
        assertEquals(Http2Exception.CONNECTION, error.streamId());
    }

    @Test
    void encodesAndDecodesEveryByte() {
        Random random = new Random(7);
        for (int round = 0; round < 2000; round++) {
            byte[] text = new byte[random.nextInt(60)];
            random.nextBytes(text);
            byte[] encoded = new byte[HuffmanCode.encodedLength(text, 0, text.length)];
            assertEquals(encoded.length, HuffmanCode.encode(text, 0, text.length, encoded, 0));
            byte[] decoded = new byte[HuffmanCode.decodedMax(encoded.length)];
            int end = HuffmanCode.decode(encoded, 0, encoded.length, decoded, 0);
            assertArrayEquals(text, Arrays.copyOf(decoded, end));
        }
    }

    /** The table keeps its size whatever is inserted, and evicts the oldest entries. */
    @Test
    void evictsTheOldestEntries() throws Exception {
        String value = "v".repeat(1000);
        for (int i = 0; i < 5; i++) {
            byte[] block = Http2Client.block("n" + i, value);
            block[0] = 0x40;
            fields.begin(65_536, true);
            hpack.decode(block, 0, block.length, fields);
        }
        fields.begin(65_536, true);
        hpack.decode(new byte[] {(byte) 0xbe, (byte) 0xc0}, 0, 2, fields);
        assertNull(fields.malformed());
        assertThrows(Http2Exception.class, () -> hpack.decode(new byte[] {(byte) 0xc1}, 0, 1, fields));
    }

    /** A block of 64 KiB that refers to a long entry at each byte is refused, and needs no memory. */
    @Test
    void boundsABombOfReferences() throws Exception {
        byte[] seed = Http2Client.block("bomb", "b".repeat(3900));
        seed[0] = 0x40;
        fields.begin(65_536, false);
        hpack.decode(seed, 0, seed.length, fields);
        byte[] bomb = new byte[65_536];
        Arrays.fill(bomb, (byte) 0xbe);
        fields.begin(65_536, false);
        hpack.decode(bomb, 0, bomb.length, fields);
        assertTrue(fields.isTooLarge());
    }

    @Test
    void joinsCookiesIntoOneLine_rfc9113_s8_2_3() throws Exception {
        RequestHead head = decode(Http2Client.request("GET", "/", "cookie", "a=1", "accept", "*/*", "cookie", "b=2"));
        assertNotNull(head);
        assertEquals(
                "host: test.example\naccept: */*\ncookie: a=1; b=2\n",
                head.fields().toString());
    }

    /** A line that ends with a space is refused by HTTP/2 origins. */
    @Test
    void leavesOutEmptyCookies_rfc9113_s8_2_1() throws Exception {
        RequestHead head =
                decode(Http2Client.request("GET", "/", "cookie", "", "cookie", "a=1", "cookie", "", "cookie", ""));
        assertNotNull(head);
        assertEquals("host: test.example\ncookie: a=1\n", head.fields().toString());
    }

    @Test
    void grownSectionsKeepTheirLines() throws Exception {
        String[] all = Http2Client.request("GET", "/", "first", "1");
        String[] many = Arrays.copyOf(all, all.length + 60);
        for (int i = all.length; i < many.length; i += 2) {
            many[i] = "x-" + i;
            many[i + 1] = String.valueOf(i).repeat(150);
        }
        RequestHead head = decode(many);
        assertNotNull(head);
        assertEquals("test.example", head.target().host());
        assertEquals(32, head.fields().size());
        RequestHead owned = fields.withOwnBytes(head);
        assertEquals(head.fields().toString(), owned.fields().toString());
    }

    @Test
    void staticNamesAreLowerCase() {
        for (int index = 1; index <= StaticTable.SIZE; index++) {
            String name = new String(StaticTable.name(index), StandardCharsets.US_ASCII);
            assertTrue(StaticTable.find(name) <= index && StaticTable.find(name) > 0, name);
        }
    }
}
