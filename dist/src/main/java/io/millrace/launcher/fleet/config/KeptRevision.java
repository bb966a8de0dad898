package io.millrace.launcher.fleet.config;

import io.millrace.launcher.fleet.config.RefusedRevisionException.Reason;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.Json;
import io.millrace.proxy.config.fleet.ConfigPublicKey;
import io.millrace.proxy.config.fleet.FleetConfig;
import io.millrace.proxy.config.problem.ConfigDocument.Pushed;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The last good revision of the fleet's configuration, in the state directory, and the highest number that this node
 * has seen. The number never decreases, so that the node never goes back to an older revision. Confined to one thread.
 */
public final class KeptRevision {
    private static final String FILE = "config.json";
    private static final String CONTENT_PREFIX = "config-";
    private static final String CONTENT_SUFFIX = ".yaml";
    private static final Set<StandardOpenOption> NEW =
            EnumSet.of(StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE);

    private final Path directory;
    private long highest;
    private @Nullable SignedRevision applied;
    private long rejected;
    private String reason = "";

    private KeptRevision(Path directory) {
        this.directory = directory;
    }

    /**
     * Reads the files.
     *
     * @param directory the directory of the fleet in the state directory
     * @throws IOException if they are damaged; then the highest number is not known, and the node must apply nothing
     */
    public static KeptRevision open(Path directory) throws IOException {
        KeptRevision kept = new KeptRevision(directory);
        Path file = directory.resolve(FILE);
        if (!Files.exists(file)) {
            return kept;
        }
        try {
            Map<String, Object> members = Json.members(Files.readAllBytes(file));
            Long highest = Json.member(members, "highest", Long.class);
            Long rejected = Json.member(members, "rejected", Long.class);
            String applied = Json.member(members, "applied", String.class);
            if (highest == null) {
                throw new IOException("the member 'highest' is missing");
            }
            kept.highest = highest;
            kept.rejected = rejected == null ? 0 : rejected;
            kept.reason = String.valueOf(members.getOrDefault("reason", ""));
            if (applied != null) {
                kept.applied =
                        SignedRevision.parse(applied, String.valueOf(members.getOrDefault("applied_signature", "")));
            }
            return kept;
        } catch (AdminException | RefusedRevisionException | IOException e) {
            String why = e instanceof AdminException refused ? refused.message() : e.getMessage();
            throw new IOException(
                    file + " is damaged: " + why
                            + "; if you delete it, the node accepts any signed revision, also an older one",
                    e);
        }
    }

    /**
     * Returns the last good revision if the local file permits one.
     *
     * @param settings settings of the local file; null without a fleet
     * @return null if there is none
     * @throws RefusedRevisionException if its signature or content is wrong
     */
    public static @Nullable Pushed lastGood(Path directory, @Nullable FleetConfig settings)
            throws IOException, RefusedRevisionException {
        Path key = settings == null ? null : settings.configPublicKey();
        SignedRevision applied = key == null ? null : open(directory).applied;
        if (settings == null
                || key == null
                || applied == null
                || !applied.statement().hasContent()) {
            return null;
        }
        applied.verify(ConfigPublicKey.read(key), settings.name());
        byte[] text = Files.readAllBytes(content(directory, applied.revision()));
        if (!RevisionStore.hash(text).equals(applied.statement().content())) {
            throw new RefusedRevisionException(
                    Reason.CONTENT, "the kept content of revision " + applied.revision() + " is damaged");
        }
        return new Pushed(applied.revision(), new String(text, StandardCharsets.UTF_8));
    }

    private static Path content(Path directory, long revision) {
        return directory.resolve(CONTENT_PREFIX + revision + CONTENT_SUFFIX);
    }

    /** Returns the highest number of a revision that this node has applied or rejected; 0 for none. */
    long highest() {
        return highest;
    }

    /** Returns the last good revision; null for none. */
    @Nullable
    SignedRevision applied() {
        return applied;
    }

    /** Returns the number of the newest revision if this node rejected it; 0 otherwise. */
    long rejected() {
        return rejected;
    }

    /** Returns the reason of the rejection. */
    String reason() {
        return reason;
    }

    /**
     * Records that a revision is in force.
     *
     * @param text its content; null for none
     */
    void applied(SignedRevision revision, @Nullable String text) throws IOException {
        highest = Math.max(highest, revision.revision());
        applied = revision;
        rejected = 0;
        reason = "";
        createDirectory();
        if (text != null) {
            write(content(directory, revision.revision()), text.getBytes(StandardCharsets.UTF_8));
        }
        write();
        deleteOthers(revision.revision());
    }

    /** Records that this node rejected a revision. The last good one stays. */
    void rejected(long revision, String why) throws IOException {
        highest = Math.max(highest, revision);
        rejected = revision;
        reason = why;
        createDirectory();
        write();
    }

    private void createDirectory() throws IOException {
        Files.createDirectories(directory);
    }

    private void write() throws IOException {
        SignedRevision present = applied;
        byte[] bytes = AdminReply.json(json -> {
                    json.writeNumberProperty("highest", highest);
                    json.writeNumberProperty("rejected", rejected);
                    json.writeStringProperty("reason", reason);
                    if (present != null) {
                        json.writeStringProperty("applied", present.statement().text());
                        json.writeStringProperty("applied_signature", present.signature());
                    }
                })
                .body();
        write(directory.resolve(FILE), bytes);
    }

    private void write(Path file, byte[] bytes) throws IOException {
        Path unfinished = directory.resolve("config-unfinished");
        Files.deleteIfExists(unfinished);
        try (FileChannel channel = FileChannel.open(
                unfinished, NEW, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
            ByteBuffer buffer = ByteBuffer.wrap(bytes);
            while (buffer.hasRemaining()) {
                channel.write(buffer);
            }
            channel.force(true);
        }
        Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private void deleteOthers(long revision) throws IOException {
        Path contentFile = content(directory, revision);
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, CONTENT_PREFIX + "*" + CONTENT_SUFFIX)) {
            for (Path file : files) {
                if (!file.equals(contentFile)) {
                    Files.delete(file);
                }
            }
        }
    }
}
