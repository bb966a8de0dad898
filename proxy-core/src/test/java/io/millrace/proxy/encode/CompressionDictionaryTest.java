package io.millrace.proxy.encode;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.settings.ContentCoding;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests encoders and decoders with a dictionary. */
class CompressionDictionaryTest {
    private static byte[] random(int length, long seed) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    /** Returns content whose parts of 1000 bytes are those of the dictionary in another order. */
    private static byte[] shuffled(byte[] dictionary, int length) {
        byte[] content = new byte[length];
        Random random = new Random(7);
        for (int at = 0; at < length; at += 1000) {
            int from = random.nextInt(dictionary.length - 1000);
            System.arraycopy(dictionary, from, content, at, Math.min(1000, length - at));
        }
        return content;
    }

    private static byte[] encoded(
            ContentCoding coding, int level, CompressionDictionary dictionary, byte[] content, long length)
            throws IOException {
        ContentEncoder encoder = ContentEncoders.create(coding, level, dictionary, length);
        ByteBuf to = Unpooled.buffer();
        encoder.write(Unpooled.wrappedBuffer(content), to);
        encoder.finish(to);
        return ByteBufUtil.getBytes(to);
    }

    private static byte[] decoded(ContentCoding coding, CompressionDictionary dictionary, byte[] encoded, int length)
            throws IOException {
        ByteBuf decoded = ContentDecoders.decode(coding, dictionary, Unpooled.wrappedBuffer(encoded), length);
        assertNotNull(decoded);
        byte[] bytes = ByteBufUtil.getBytes(decoded);
        decoded.release();
        return bytes;
    }

    /** Random bytes cannot be compressed, so that a small result shows the use of the dictionary up to its end. */
    @ParameterizedTest
    @CsvSource({
        "DICTIONARY_BROTLI, 0, 100000, 50000",
        "DICTIONARY_BROTLI, 5, 100000, 50000",
        "DICTIONARY_BROTLI, 5, 1000000, 2000000",
        "DICTIONARY_BROTLI, 11, 100000, 50000",
        "DICTIONARY_ZSTD, 1, 100000, 50000",
        "DICTIONARY_ZSTD, 6, 1000000, 900000",
        "DICTIONARY_ZSTD, 6, 1000000, 3000000",
        "DICTIONARY_ZSTD, 19, 100000, 50000"
    })
    void theDictionaryIsUsed(ContentCoding coding, int level, int dictionaryLength, int length) throws Exception {
        byte[] bytes = random(dictionaryLength, 1);
        CompressionDictionary dictionary = CompressionDictionary.of(bytes);
        byte[] content = shuffled(bytes, length);
        byte[] encoded = encoded(coding, level, dictionary, content, length);
        assertTrue(encoded.length < length / 4, encoded.length + " bytes");
        assertArrayEquals(content, decoded(coding, dictionary, encoded, length));
        byte[] again = encoded(coding, level, dictionary, content, -1);
        assertArrayEquals(content, decoded(coding, dictionary, again, length));
    }

    @ParameterizedTest
    @CsvSource({"DICTIONARY_BROTLI, ff444342", "DICTIONARY_ZSTD, 5e2a4d1820000000"})
    void contentBeginsWithTheHeader(ContentCoding coding, String magic) throws Exception {
        byte[] bytes = random(1000, 2);
        CompressionDictionary dictionary = CompressionDictionary.of(bytes);
        byte[] hash = MessageDigest.getInstance("SHA-256").digest(bytes);
        byte[] encoded = encoded(coding, 5, dictionary, bytes, bytes.length);
        String header = magic + HexFormat.of().formatHex(hash);
        assertEquals(header, HexFormat.of().formatHex(encoded, 0, header.length() / 2));
        assertEquals(header.length() / 2, CompressionDictionary.headerBytes(coding));
        assertEquals(dictionary.hashText(), CompressionDictionary.hashIn(coding, encoded));
        encoded[0]++;
        assertNull(CompressionDictionary.hashIn(coding, encoded));
        assertNull(CompressionDictionary.hashIn(coding, Arrays.copyOf(encoded, 10)));
    }

    /** Zstandard copies the dictionary for each encoder, so large ones leave room for fewer encoders. */
    @ParameterizedTest
    @CsvSource({
        "DICTIONARY_BROTLI, 5, 65536, 4",
        "DICTIONARY_BROTLI, 11, 16777216, 4",
        "DICTIONARY_ZSTD, 6, 65536, 4",
        "DICTIONARY_ZSTD, 6, 2097152, 4",
        "DICTIONARY_ZSTD, 6, 16777216, 8",
        "DICTIONARY_ZSTD, 15, 2097152, 18",
        "DICTIONARY_ZSTD, 19, 16777216, 38"
    })
    void largeDictionariesNeedMorePermits(ContentCoding coding, int level, int length, int permits) {
        assertEquals(permits, ContentEncoders.permits(coding, level, length, -1));
    }

    @ParameterizedTest
    @CsvSource({"1000, 268144", "2097152, 13107200", "16777216, 104857600"})
    void theMemoryIncludesTheTables(int length, long bytes) {
        assertEquals(bytes, CompressionDictionary.memoryBytes(length));
    }

    /** The library would read such content as a dictionary in its own format. */
    @Test
    void contentThatIsNoRawDictionaryIsRefused() {
        byte[] trained = random(1000, 3);
        byte[] magic = {0x37, (byte) 0xa4, 0x30, (byte) 0xec};
        System.arraycopy(magic, 0, trained, 0, magic.length);
        assertNull(CompressionDictionary.of(trained));
        assertNull(CompressionDictionary.of(random(CompressionDictionary.BYTES_MIN - 1, 4)));
        assertNotNull(CompressionDictionary.of(random(CompressionDictionary.BYTES_MIN, 4)));
    }

    @Test
    void contentBeyondTheLimitIsNotDecoded() throws Exception {
        byte[] bytes = random(1000, 5);
        CompressionDictionary dictionary = CompressionDictionary.of(bytes);
        byte[] encoded = encoded(ContentCoding.DICTIONARY_ZSTD, 5, dictionary, bytes, bytes.length);
        assertNull(ContentDecoders.decode(
                ContentCoding.DICTIONARY_ZSTD, dictionary, Unpooled.wrappedBuffer(encoded), bytes.length - 1));
    }

    /** The header of dcz is a frame that decoders skip, so the program decodes it with the dictionary alone. */
    @Test
    void theZstdProgramDecodesTheContent(@TempDir Path directory) throws Exception {
        Assumptions.assumeTrue(Files.isExecutable(Path.of("/usr/bin/zstd")), "zstd is not installed");
        byte[] bytes = random(300_000, 6);
        byte[] content = shuffled(bytes, 400_000);
        byte[] encoded =
                encoded(ContentCoding.DICTIONARY_ZSTD, 6, CompressionDictionary.of(bytes), content, content.length);
        Path dictionary = Files.write(directory.resolve("dictionary"), bytes);
        Path input = Files.write(directory.resolve("content.zst"), encoded);
        Path output = directory.resolve("content");
        Process zstd = new ProcessBuilder(
                        "/usr/bin/zstd",
                        "-q",
                        "-d",
                        "-D",
                        dictionary.toString(),
                        "-o",
                        output.toString(),
                        input.toString())
                .inheritIO()
                .start();
        assertEquals(0, zstd.waitFor());
        assertArrayEquals(content, Files.readAllBytes(output));
    }
}
