package io.millrace.store.recover;

import io.millrace.store.disk.DeviceNote;
import io.millrace.store.disk.segment.Superblock;
import io.millrace.store.io.FileIo;
import io.millrace.store.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks a device or file before the store writes to it. The device must start with a volume or with zeros; other
 * content is overwritten only with {@code format: true}. This permission is valid once: the {@link DeviceNote} in the
 * index directory records its use. A permission that is left in the configuration therefore cannot destroy the content
 * of another device that later gets the same name.
 *
 * <p>Confined to one thread.
 */
final class DeviceOpening {
    private static final Logger LOG = LoggerFactory.getLogger(DeviceOpening.class);
    /**
     * Bytes that are checked at the start and at the end of the device. Every file system and partition table writes to
     * at least one of these two places.
     */
    private static final int CHECKED_BYTES = 1 << 20;
    /** Minimum bytes of a device for segments. */
    private static final long SIZE_BYTES_MIN = 256 * 1024;

    private final FileIo io;
    private final VolumeSpec spec;
    private final VolumeSpec.Device device;
    private final StoreFile file;

    DeviceOpening(FileIo io, VolumeSpec spec, VolumeSpec.Device device, StoreFile file) {
        this.io = io;
        this.spec = spec;
        this.device = device;
        this.file = file;
    }

    /**
     * Returns the superblock of the volume on the device. Null if there is no valid volume; the caller may then format
     * the device.
     *
     * @throws IOException if the device must not be written, or does not match the configuration
     */
    @Nullable
    Superblock open() throws IOException {
        checkSize();
        ByteBuffer start = read(0, CHECKED_BYTES);
        boolean volume = start.limit() >= Superblock.SEGMENTS_AT
                && Superblock.isVolume(start.slice(0, (int) Superblock.SEGMENTS_AT));
        boolean blank =
                !volume && isZero(start) && isZero(read(Math.max(0, file.length() - CHECKED_BYTES), CHECKED_BYTES));
        checkPermission(volume || blank, start);
        Superblock found = volume ? Superblock.read(file) : null;
        if (found != null && found.fileBytes() > file.length()) {
            LOG.warn(
                    "{}: the volume had {} bytes, the file or device now has {}: the volume starts empty",
                    device.path(),
                    found.fileBytes(),
                    file.length());
            return null;
        }
        return found;
    }

    private void checkSize() throws IOException {
        if (!file.isFixed()) {
            if (spec.sizeBytes() == 0) {
                throw new IOException(device.path() + ": size is missing; a regular file needs one");
            }
            return;
        }
        long length = file.length();
        if (spec.sizeBytes() > length) {
            throw new IOException(device.path() + ": the configured size is larger than the device: size="
                    + spec.sizeBytes() + " bytes, device=" + length + " bytes");
        }
        if (length < Superblock.SEGMENTS_AT + SIZE_BYTES_MIN) {
            throw new IOException(device.path() + ": the device is too small: actual=" + length + " bytes, limit="
                    + (Superblock.SEGMENTS_AT + SIZE_BYTES_MIN));
        }
    }

    private void checkPermission(boolean blankOrVolume, ByteBuffer start) throws IOException {
        DeviceNote before = DeviceNote.read(io, spec.directory());
        boolean used = before != null && before.formatUsed();
        if (!device.format()) {
            note(before, false);
        }
        if (blankOrVolume) {
            if (device.format()) {
                LOG.warn(
                        "{}: format: true has no effect on a device without other content; remove it from the configuration",
                        device.path());
                note(before, true);
            }
            return;
        }
        if (!device.format()) {
            throw new IOException(device.path() + ": contains other data (" + describe(start)
                    + "); to overwrite the data, set format: true for this path, once");
        }
        if (used) {
            throw new IOException(device.path() + ": contains other data (" + describe(start)
                    + "), and format: true, which works once, was already used; to overwrite the data, delete "
                    + spec.directory().resolve(DeviceNote.FILE_NAME));
        }
        note(before, true);
        LOG.warn(
                "{}: other data ({}) was overwritten because of format: true; remove format from the configuration",
                device.path(),
                describe(start));
    }

    private void note(@Nullable DeviceNote before, boolean used) throws IOException {
        DeviceNote newNote = new DeviceNote(device.path(), used);
        if (!newNote.equals(before)) {
            newNote.write(io, spec.directory());
        }
    }

    private ByteBuffer read(long position, int length) throws IOException {
        ByteBuffer in = ByteBuffer.allocate((int) Math.min(length, file.length()));
        file.read(in, position);
        return in.flip();
    }

    private static boolean isZero(ByteBuffer in) {
        return firstNonZero(in) < 0;
    }

    private static int firstNonZero(ByteBuffer in) {
        for (int i = 0; i < in.limit(); i++) {
            if (in.get(i) != 0) {
                return i;
            }
        }
        return -1;
    }

    /**
     * Returns the position of the first byte that is not zero, as text. The text also contains the next bytes in
     * hexadecimal.
     */
    private static String describe(ByteBuffer start) {
        int at = firstNonZero(start);
        if (at < 0) {
            return "its end is not zero";
        }
        StringBuilder text = new StringBuilder("at byte ").append(at).append(':');
        for (int i = at; i < Math.min(at + 8, start.limit()); i++) {
            int value = start.get(i) & 0xff;
            text.append(value < 16 ? " 0" : " ").append(Integer.toHexString(value));
        }
        return text.toString();
    }
}
