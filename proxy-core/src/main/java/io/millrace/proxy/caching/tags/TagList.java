package io.millrace.proxy.caching.tags;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Collects tags without duplicates, and records the first control byte or exceeded limit. Confined to one thread. */
public final class TagList {
    private final Set<ByteBuffer> seen = new HashSet<>();
    private final ByteArrayOutputStream packed = new ByteArrayOutputStream();
    private @Nullable String problem;

    /** Adds tags in the format of {@link Tags#packed}. */
    void add(byte[] tags) {
        int start = 0;
        for (int at = 0; at < tags.length; at++) {
            if (tags[at] == Tags.SEPARATOR) {
                addOne(tags, start, at);
                start = at + 1;
            }
        }
    }

    /** Adds the tags of a field value. */
    public void add(byte[] bytes, int from, int to, TagSyntax syntax) {
        int start = from;
        for (int at = from; at <= to; at++) {
            if (at == to || syntax.isSeparator(bytes[at])) {
                addTrimmed(bytes, start, at);
                start = at + 1;
            }
        }
    }

    private void addTrimmed(byte[] bytes, int from, int to) {
        int start = from;
        int end = to;
        while (start < end && (bytes[start] == ' ' || bytes[start] == '\t')) {
            start++;
        }
        while (end > start && (bytes[end - 1] == ' ' || bytes[end - 1] == '\t')) {
            end--;
        }
        addOne(bytes, start, end);
    }

    /** Adds one tag; an empty tag is ignored. */
    public void addOne(byte[] bytes, int from, int to) {
        if (from == to) {
            return;
        }
        int bad = controlByte(bytes, from, to);
        if (bad >= 0) {
            fail("control byte 0x" + Integer.toHexString(bytes[bad] & 0xff) + " at position " + (bad - from)
                    + " of a tag");
            return;
        }
        if (to - from > TagRules.TAG_LENGTH_MAX) {
            fail("length of a tag in bytes: actual=" + (to - from) + ", limit=" + TagRules.TAG_LENGTH_MAX);
            return;
        }
        byte[] tag = Arrays.copyOfRange(bytes, from, to);
        if (seen.size() < Tags.COUNT_MAX && seen.add(ByteBuffer.wrap(tag))) {
            packed.write(tag, 0, tag.length);
            packed.write(Tags.SEPARATOR);
            if (seen.size() > TagRules.TAGS_MAX) {
                fail("number of tags: actual more than " + TagRules.TAGS_MAX + ", limit=" + TagRules.TAGS_MAX);
            }
        }
    }

    private static int controlByte(byte[] bytes, int from, int to) {
        for (int at = from; at < to; at++) {
            if ((bytes[at] >= 0 && bytes[at] < ' ') || bytes[at] == 127) {
                return at;
            }
        }
        return -1;
    }

    private void fail(String what) {
        if (problem == null) {
            problem = what;
        }
    }

    /** Returns the first problem: a control byte in a tag, or an exceeded limit with its number; null for none. */
    public @Nullable String problem() {
        return problem;
    }

    /** Returns the tags collected so far. */
    public Tags tags() {
        return seen.isEmpty() ? Tags.NONE : new Tags(null, packed.toByteArray(), seen.size());
    }
}
