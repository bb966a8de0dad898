package io.millrace.proxy.geo;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes small files in the MaxMind DB format, version 2, for tests. Values are maps, texts and numbers. A text that was
 * written before becomes a pointer.
 */
public final class MmdbWriter {
    private static final byte[] MARKER = "\u00ab\u00cd\u00efMaxMind.com".getBytes(StandardCharsets.ISO_8859_1);
    private static final int EMPTY = -1;

    private final int recordBits;
    private final int ipVersion;
    /** The two records of each node: a node, {@link #EMPTY}, or -2 minus the position of values. */
    private final List<long[]> nodes = new ArrayList<>(List.of(new long[] {EMPTY, EMPTY}));

    private final ByteArrayOutputStream values = new ByteArrayOutputStream();
    private final Map<String, Integer> texts = new LinkedHashMap<>();
    private final Map<String, Object> metadata = new LinkedHashMap<>();

    /**
     * @param recordBits 24, 28 or 32
     * @param ipVersion 4 or 6
     */
    public MmdbWriter(int recordBits, int ipVersion) {
        this.recordBits = recordBits;
        this.ipVersion = ipVersion;
    }

    /** Replaces a value of the metadata. */
    public MmdbWriter metadata(String key, Object value) {
        metadata.put(key, value);
        return this;
    }

    /** Adds bytes to the values, so that later positions are larger. */
    public MmdbWriter padding(int length) {
        values.writeBytes(new byte[length]);
        return this;
    }

    /** Adds the values of an IPv4 prefix. */
    public MmdbWriter add(int a, int b, int c, int d, int bits, Map<String, Object> value) {
        byte[] address = new byte[16];
        byte[] v4 = {(byte) a, (byte) b, (byte) c, (byte) d};
        System.arraycopy(v4, 0, address, ipVersion == 6 ? 12 : 0, 4);
        return add(address, (ipVersion == 6 ? 96 : 0) + bits, value);
    }

    /** Adds the values of a prefix. */
    public MmdbWriter add(byte[] address, int bits, Map<String, Object> value) {
        int at = values.size();
        write(values, value, true);
        int node = 0;
        for (int i = 0; i < bits; i++) {
            int side = address[i / 8] >> (7 - i % 8) & 1;
            if (i == bits - 1) {
                nodes.get(node)[side] = -2L - at;
            } else if (nodes.get(node)[side] >= 0) {
                node = (int) nodes.get(node)[side];
            } else {
                nodes.add(new long[] {EMPTY, EMPTY});
                nodes.get(node)[side] = nodes.size() - 1L;
                node = nodes.size() - 1;
            }
        }
        return this;
    }

    /** Returns the values of a country. */
    public static Map<String, Object> country(String country, String continent) {
        Map<String, Object> names = Map.of("en", "a name", "de", "ein Name");
        Map<String, Object> value = new LinkedHashMap<>();
        value.put("continent", Map.of("code", continent, "geoname_id", 6_255_148, "names", names));
        value.put("registered_country", Map.of("iso_code", "ZZ"));
        value.put("country", Map.of("names", names, "iso_code", country, "geoname_id", 2_921_044));
        return value;
    }

    /** Returns the values of an autonomous system. */
    public static Map<String, Object> network(long number) {
        return Map.of("autonomous_system_number", number, "autonomous_system_organization", "Example");
    }

    /** Returns the file. */
    public byte[] bytes() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (long[] node : nodes) {
            long left = record(node[0]);
            long right = record(node[1]);
            if (recordBits == 28) {
                number(out, left & 0xff_ffff, 3);
                out.write((int) (left >> 24 << 4 | right >> 24));
                number(out, right & 0xff_ffff, 3);
            } else {
                number(out, left, recordBits / 8);
                number(out, right, recordBits / 8);
            }
        }
        out.writeBytes(new byte[16]);
        out.writeBytes(values.toByteArray());
        out.writeBytes(MARKER);
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("binary_format_major_version", 2);
        all.put("binary_format_minor_version", 0);
        all.put("build_epoch", 1_767_225_600L);
        all.put("database_type", "Test");
        all.put("description", Map.of("en", "x".repeat(300)));
        all.put("ip_version", ipVersion);
        all.put("node_count", nodes.size());
        all.put("record_size", recordBits);
        all.putAll(metadata);
        write(out, all, false);
        return out.toByteArray();
    }

    private long record(long record) {
        return record >= 0 ? record : record == EMPTY ? nodes.size() : nodes.size() + 16 + (-2 - record);
    }

    private static void number(ByteArrayOutputStream out, long number, int length) {
        for (int i = length - 1; i >= 0; i--) {
            out.write((int) (number >> (8 * i)));
        }
    }

    private void write(ByteArrayOutputStream out, Object value, boolean pointing) {
        if (value instanceof Map<?, ?> map) {
            control(out, 7, map.size());
            map.forEach((key, member) -> {
                write(out, key, pointing);
                write(out, member, pointing);
            });
        } else if (value instanceof String text) {
            Integer known = pointing ? texts.get(text) : null;
            if (known != null) {
                pointer(out, known);
                return;
            }
            if (pointing) {
                texts.put(text, out.size());
            }
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            control(out, 2, bytes.length);
            out.writeBytes(bytes);
        } else {
            long number = ((Number) value).longValue();
            int length = (Long.SIZE - Long.numberOfLeadingZeros(number) + 7) / 8;
            control(out, length <= 2 ? 5 : length <= 4 ? 6 : 9, length);
            number(out, number, length);
        }
    }

    private static void pointer(ByteArrayOutputStream out, int to) {
        if (to < 2048) {
            out.write(1 << 5 | to >> 8);
            number(out, to & 0xff, 1);
        } else if (to < 526_336) {
            out.write(1 << 5 | 1 << 3 | ((to - 2048) >> 16));
            number(out, (to - 2048) & 0xffff, 2);
        } else if (to < 134_744_064) {
            out.write(1 << 5 | 2 << 3 | ((to - 526_336) >> 24));
            number(out, (to - 526_336) & 0xff_ffff, 3);
        } else {
            out.write(1 << 5 | 3 << 3);
            number(out, to, 4);
        }
    }

    private static void control(ByteArrayOutputStream out, int type, int size) {
        int low = size < 29 ? size : size < 285 ? 29 : size < 65_821 ? 30 : 31;
        out.write(type > 7 ? low : type << 5 | low);
        if (type > 7) {
            out.write(type - 7);
        }
        number(out, size - (low == 29 ? 29 : low == 30 ? 285 : 65_821), low < 29 ? 0 : low - 28);
    }
}
