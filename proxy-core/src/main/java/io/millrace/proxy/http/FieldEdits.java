package io.millrace.proxy.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A change of a field section: removes all lines with certain names, then appends lines.
 *
 * <p>Immutable.
 */
public final class FieldEdits {
    private final FieldName[] removed;
    private final FieldSection added;
    /**
     * A bit set of the lengths of the removed names, modulo 64. Most lines have another length and need no comparison.
     */
    private final long removedLengths;

    /** A bit set of the first letters of the removed names, modulo 32, so that case is ignored. */
    private final int removedInitials;

    private FieldEdits(FieldName[] removed, FieldSection added) {
        this.removed = removed;
        this.added = added;
        long lengths = 0;
        int initials = 0;
        for (FieldName name : removed) {
            lengths |= 1L << (name.text().length() & 63);
            initials |= 1 << (name.text().charAt(0) & 31);
        }
        removedLengths = lengths;
        removedInitials = initials;
    }

    /**
     * Returns the changes that remove all lines with some names, then add lines.
     *
     * @param added an immutable section
     */
    public static FieldEdits of(List<FieldName> removed, FieldSection added) {
        return new FieldEdits(removed.toArray(FieldName[]::new), added);
    }

    /**
     * Returns the same changes with the added lines in the format of HTTP/1.1, so that one copy writes them. Useful for
     * changes that apply to many responses.
     */
    public FieldEdits encoded() {
        ByteBuf wire = Unpooled.buffer(added.wireLength());
        added.writeTo(wire);
        byte[] bytes = new byte[wire.readableBytes()];
        wire.readBytes(bytes);
        FieldSection contiguous = FieldSection.parse(bytes, 0, bytes.length);
        return contiguous == null ? this : new FieldEdits(removed, contiguous);
    }

    /** The lines to add, in their order. */
    public FieldSection added() {
        return added;
    }

    /** Returns false if no removed name begins with this letter. */
    boolean mayRemove(byte initial) {
        return (removedInitials & (1 << (initial & 31))) != 0;
    }

    /** Returns true if lines with this name are removed. */
    public boolean removes(FieldName name) {
        for (FieldName one : removed) {
            if (one.equals(name)) {
                return true;
            }
        }
        return false;
    }

    /** Returns true if the range of bytes, a field name, is one of the names that are removed. */
    public boolean removes(byte[] bytes, int from, int to) {
        if ((removedLengths & (1L << ((to - from) & 63))) == 0) {
            return false;
        }
        for (FieldName name : removed) {
            if (name.matches(bytes, from, to)) {
                return true;
            }
        }
        return false;
    }

    /** Returns the section after these changes; the same section if nothing changes. */
    public FieldSection applyTo(FieldSection fields) {
        FieldSection.@Nullable Builder changed = added.size() == 0 ? null : FieldSection.builderLike(fields);
        if (changed != null) {
            copyKept(fields, changed, fields.size());
        } else {
            for (int line = 0; line < fields.size(); line++) {
                boolean isRemoved = removes(fields.bytes(), fields.nameStart(line), fields.nameEnd(line));
                if (isRemoved && changed == null) {
                    changed = FieldSection.builderLike(fields);
                    copyKept(fields, changed, line);
                } else if (!isRemoved && changed != null) {
                    changed.addLine(fields, line);
                }
            }
        }
        return changed == null ? fields : changed.addAll(added).build();
    }

    private void copyKept(FieldSection from, FieldSection.Builder to, int end) {
        for (int line = 0; line < end; line++) {
            if (!removes(from.bytes(), from.nameStart(line), from.nameEnd(line))) {
                to.addLine(from, line);
            }
        }
    }

    /** Returns the number of bytes of the added lines. */
    int addedLength() {
        return added.wireLength();
    }

    /**
     * Writes the added lines, except lines that a later change removes. The later changes are {@code all[next]} to
     * {@code all[end - 1]}. Borrows the buffer.
     */
    void writeAdded(ByteBuf out, FieldEdits[] all, int next, int end) {
        if (next == end) {
            added.writeTo(out);
            return;
        }
        for (int line = 0; line < added.size(); line++) {
            if (!isRemovedBy(all, next, end, added, line)) {
                added.writeLineTo(line, out);
            }
        }
    }

    /** Returns true if any of the changes {@code all[from]} to {@code all[end - 1]} removes the line. */
    static boolean isRemovedBy(FieldEdits[] all, int from, int end, FieldSection fields, int line) {
        for (int i = from; i < end; i++) {
            if (all[i].removes(fields.bytes(), fields.nameStart(line), fields.nameEnd(line))) {
                return true;
            }
        }
        return false;
    }
}
