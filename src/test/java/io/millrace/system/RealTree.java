package io.millrace.system;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A tree of real files: copies of files below {@code /usr/share} of this machine, and unusual ones that such trees
 * lack. Immutable once created.
 */
final class RealTree {

    /** One file and its target in origin-form. */
    record Entry(String target, Path file, long length) {}

    /** With fewer real files than this the test is worthless and fails. */
    static final int REAL_FILES_MIN = 2_000;

    private static final int REAL_FILES_MAX = 2_400;
    private static final int FILES_OF_ONE_SOURCE_MAX = 1_500;
    private static final long REAL_LENGTH_MAX = 1 << 20;
    private static final long LARGE_LENGTH = 50L * 1024 * 1024 + 12_345;
    private static final List<String> SOURCES =
            List.of("/usr/share/doc", "/usr/share/perl", "/usr/share", "/usr/include", "/etc", "/usr/lib");
    private static final List<String> AWKWARD_NAMES = List.of(
            "two words.txt",
            " leading space",
            "trailing space ",
            "percent%.txt",
            "already%20escaped.txt",
            "%41%2e%2E",
            "plus+and&ampersand=equals;semicolon,comma.txt",
            "question?mark.txt",
            "hash#mark.txt",
            "colon:at@dollar$bang!star*'quote'(paren).txt",
            "square[bracket]{brace}|pipe^caret`tick\\back\"quote\".txt",
            "~tilde",
            "...three dots",
            "naïve café.txt",
            "Größe und Maß.html",
            "日本語.txt",
            "🚰 mill race.txt",
            "n".repeat(200));

    private final List<Entry> entries = new ArrayList<>();
    private final Path root;
    private int realFiles;

    private RealTree(Path root) {
        this.root = root;
    }

    /** Fills an existing directory. */
    static RealTree plant(Path root, long seed) throws IOException {
        RealTree tree = new RealTree(root);
        for (String source : SOURCES) {
            tree.copyFrom(Path.of(source));
        }
        if (tree.realFiles < REAL_FILES_MIN) {
            throw new AssertionError(
                    "only " + tree.realFiles + " real files found under " + SOURCES + ", not " + REAL_FILES_MIN);
        }
        tree.plantAwkward(new Random(seed));
        return tree;
    }

    List<Entry> entries() {
        return List.copyOf(entries);
    }

    int realFiles() {
        return realFiles;
    }

    private void copyFrom(Path source) throws IOException {
        if (!Files.isDirectory(source)) {
            return;
        }
        int enough = Math.min(REAL_FILES_MAX, realFiles + FILES_OF_ONE_SOURCE_MAX);
        Files.walkFileTree(source, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                if (realFiles >= enough) {
                    return FileVisitResult.TERMINATE;
                }
                if (attributes.isRegularFile() && attributes.size() <= REAL_LENGTH_MAX && Files.isReadable(file)) {
                    copy(file);
                }
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException cause) {
                return FileVisitResult.CONTINUE;
            }
        });
    }

    private void copy(Path file) throws IOException {
        Path to = root.resolve(file.toString().substring(1));
        if (Files.exists(to)) {
            return;
        }
        Files.createDirectories(to.getParent());
        Files.copy(file, to);
        add(to);
        realFiles++;
    }

    private void plantAwkward(Random random) throws IOException {
        Path directory = Files.createDirectories(root.resolve("awkward names/ä%b"));
        int length = 0;
        for (String name : AWKWARD_NAMES) {
            byte[] content = new byte[length];
            random.nextBytes(content);
            length += 1_021;
            add(Files.write(directory.resolve(name), content));
        }
        for (int i = 0; i < 5; i++) {
            add(Files.write(root.resolve("empty-" + i), new byte[0]));
        }
        for (int power : new int[] {12, 14, 15, 16, 18, 20, 22}) {
            for (int delta = -1; delta <= 1; delta++) {
                plantRandom("border-" + power + "-" + (delta + 1), (1L << power) + delta, random);
            }
        }
        plantRandom("large", LARGE_LENGTH, random);
    }

    private void plantRandom(String name, long length, Random random) throws IOException {
        Path file = root.resolve(name);
        byte[] block = new byte[1 << 20];
        try (OutputStream out = Files.newOutputStream(file)) {
            for (long left = length; left > 0; left -= block.length) {
                random.nextBytes(block);
                out.write(block, 0, (int) Math.min(left, block.length));
            }
        }
        add(file);
    }

    private void add(Path file) {
        try {
            entries.add(new Entry(target(file), file, Files.size(file)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Returns the path with every octet percent-encoded that is neither unreserved (RFC 3986 section 2.3) nor a slash.
     */
    private String target(Path file) {
        ByteArrayOutputStream target = new ByteArrayOutputStream();
        byte[] name = root.relativize(file).toString().getBytes(StandardCharsets.UTF_8);
        target.write('/');
        for (byte octet : name) {
            if (octet == '/' || octet == '-' || octet == '.' || octet == '_' || octet == '~' || isAlphanumeric(octet)) {
                target.write(octet);
            } else {
                target.writeBytes(String.format("%%%02X", octet & 0xff).getBytes(StandardCharsets.US_ASCII));
            }
        }
        return target.toString(StandardCharsets.US_ASCII);
    }

    private static boolean isAlphanumeric(byte octet) {
        return (octet >= 'a' && octet <= 'z') || (octet >= 'A' && octet <= 'Z') || (octet >= '0' && octet <= '9');
    }
}
