package io.millrace.bench.trace;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.GZIPInputStream;

/**
 * A sequence of requests for objects of known sizes, in memory. Objects are numbered from 0 in the order of their first
 * request.
 *
 * <p>Immutable.
 */
public final class Trace {
    /** Size in bytes of every object in a trace that does not contain sizes. */
    public static final int UNIT_BYTES = 4096;

    private final String name;
    private final int[] requests;
    private final int[] sizes;
    private final long footprint;

    private Trace(String name, int[] requests, int[] sizes) {
        this.name = name;
        this.requests = requests;
        this.sizes = sizes;
        this.footprint = Arrays.stream(sizes).asLongStream().sum();
    }

    /** Collects requests. Confined to one thread. */
    public static final class Builder {
        private final Map<String, Integer> numbers = new HashMap<>();
        private int[] requests = new int[1024];
        private int[] sizes = new int[1024];
        private int count;

        /** Adds a request for the object with this id. An object keeps the size in bytes of its first request. */
        public void add(String id, int size) {
            Integer known = numbers.get(id);
            int number = known == null ? numbers.size() : known;
            if (known == null) {
                numbers.put(id, number);
                sizes = number == sizes.length ? Arrays.copyOf(sizes, number * 2) : sizes;
                sizes[number] = size;
            }
            requests = count == requests.length ? Arrays.copyOf(requests, count * 2) : requests;
            requests[count++] = number;
        }

        /**
         * Returns the trace. If every object has the size 1, the trace has no sizes, and each object gets the size
         * {@link Trace#UNIT_BYTES}.
         */
        public Trace build(String name) {
            int[] bytes = Arrays.copyOf(sizes, numbers.size());
            if (Arrays.stream(bytes).allMatch(size -> size == 1)) {
                Arrays.fill(bytes, UNIT_BYTES);
            }
            return new Trace(name, Arrays.copyOf(requests, count), bytes);
        }
    }

    /**
     * Reads a file with lines of {@code time,id,size}. The file is decompressed if its name ends in {@code .gz}. Blank
     * lines, and lines that start with #, are skipped.
     *
     * @throws IOException also for a line in another format; the message contains its number
     */
    public static Trace read(Path file) throws IOException {
        Builder builder = new Builder();
        String fileName = String.valueOf(file.getFileName());
        try (InputStream raw = Files.newInputStream(file);
                InputStream in = fileName.endsWith(".gz") ? new GZIPInputStream(raw) : raw;
                BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
            int number = 0;
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                number++;
                if (!line.isBlank() && !line.startsWith("#")) {
                    addLine(builder, file + ":" + number, line);
                }
            }
        }
        int end = fileName.indexOf('.');
        return builder.build(end > 0 ? fileName.substring(0, end) : fileName);
    }

    private static void addLine(Builder builder, String where, String line) throws IOException {
        int first = line.indexOf(',');
        int last = line.lastIndexOf(',');
        try {
            int size = Integer.parseInt(line.substring(last + 1).strip());
            if (first < 0 || first == last || size < 1) {
                throw new IOException(where + ": expected time,id,size with a size from 1 to 2147483647: " + line);
            }
            builder.add(line.substring(first + 1, last).strip(), size);
        } catch (NumberFormatException e) {
            throw new IOException(where + ": expected time,id,size: " + line, e);
        }
    }

    /** Returns the name of the trace. */
    public String name() {
        return name;
    }

    /** Returns the number of requests. */
    public int length() {
        return requests.length;
    }

    /** Returns the number of different objects. */
    public int objects() {
        return sizes.length;
    }

    /** Returns the number of the object in request {@code n}, counted from 0. */
    public int request(int n) {
        return requests[n];
    }

    /** Returns the size of an object in bytes. */
    public int size(int object) {
        return sizes[object];
    }

    /** Returns the total size of all objects in bytes. */
    public long footprint() {
        return footprint;
    }
}
