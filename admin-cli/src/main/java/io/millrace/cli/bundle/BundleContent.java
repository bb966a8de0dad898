package io.millrace.cli.bundle;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The files of a support bundle, and for each missing file the reason. Confined to one thread. */
public final class BundleContent {
    /** Limit of one file in bytes. Of a longer text, only the end is kept. */
    public static final int PART_BYTES_MAX = 4 << 20;

    private final Map<String, byte[]> parts = new LinkedHashMap<>();
    private final Map<String, String> missing = new LinkedHashMap<>();

    /** Adds a file. */
    public void add(String name, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (bytes.length > PART_BYTES_MAX) {
            byte[] note = ("[only the last " + PART_BYTES_MAX + " bytes]\n").getBytes(StandardCharsets.UTF_8);
            byte[] end = new byte[note.length + PART_BYTES_MAX];
            System.arraycopy(note, 0, end, 0, note.length);
            System.arraycopy(bytes, bytes.length - PART_BYTES_MAX, end, note.length, PART_BYTES_MAX);
            bytes = end;
        }
        parts.put(name, bytes);
    }

    /** Records that a file is missing in the bundle, and why. */
    public void addMissing(String name, String reason) {
        missing.put(name, reason);
    }

    /** The names of the files, in their order. */
    public List<String> names() {
        return List.copyOf(parts.keySet());
    }

    /** Returns the missing files by name, each with its reason. */
    public Map<String, String> missing() {
        return missing;
    }

    /**
     * Writes the archive, with a README as its first file.
     *
     * @param folder the directory in the archive that contains all files
     * @param redactions lines for the README, one for each redaction rule
     * @param epochSeconds modification time of all files in the archive
     * @throws IOException if the file exists or cannot be written
     */
    public void write(Path file, String folder, List<String> redactions, long epochSeconds) throws IOException {
        try (TarGzip archive = new TarGzip(file, epochSeconds)) {
            archive.add(folder + "/README.txt", readme(redactions).getBytes(StandardCharsets.UTF_8));
            for (Map.Entry<String, byte[]> part : parts.entrySet()) {
                archive.add(folder + "/" + part.getKey(), part.getValue());
            }
        }
    }

    private String readme(List<String> redactions) {
        List<String> lines = new ArrayList<>();
        lines.add("Support bundle of Millrace, for a bug report. Read it before you send it.");
        lines.add("");
        lines.add("Files");
        parts.forEach((name, bytes) -> lines.add("  " + name + "  " + bytes.length + " bytes"));
        lines.add("");
        lines.add("Missing");
        missing.forEach((name, reason) -> lines.add("  " + name + ": " + reason));
        if (missing.isEmpty()) {
            lines.add("  nothing");
        }
        lines.add("");
        lines.add("Redacted");
        redactions.forEach(line -> lines.add("  " + line));
        lines.add("");
        lines.add("Not redacted: host names, paths of URLs, file names, and addresses in the configuration.");
        return String.join("\n", lines) + "\n";
    }
}
