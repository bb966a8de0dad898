package io.millrace.proxy.caching.tags;

import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.structured.BareItem;
import io.millrace.proxy.http.structured.Member;
import io.millrace.proxy.http.structured.StructuredFields;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The response fields that contain tags, and whether responses to clients keep these fields. Cache-Groups is never
 * removed, because downstream caches use it too (RFC 9875). Immutable.
 */
public final class TagRules {
    /** The field names used without configuration. */
    public static final List<String> DEFAULT_FIELDS = List.of(
            "Surrogate-Key",
            "xkey",
            "Cache-Tag",
            "Edge-Cache-Tag",
            "Cache-Groups",
            "X-Magento-Tags",
            "X-Cache-Tags",
            "Cache-Tags",
            "Purge-Cache-Tags");

    /** The rules used without configuration. */
    public static final TagRules DEFAULTS = of(DEFAULT_FIELDS, false);

    /** Limit of tags of a response and of a purge. */
    public static final int TAGS_MAX = 1000;

    /** Limit of a tag in bytes. */
    public static final int TAG_LENGTH_MAX = 1024;

    private final FieldName[] names;
    private final TagSyntax[] syntaxes;
    private final boolean keep;
    /** Bit {@code length & 63} is set for the length of each name, so that most lines are not compared with names. */
    private final long lengths;
    /**
     * Whether one of the names has a constant in {@link FieldName}. If not, lines whose field has such a constant need
     * no comparison.
     */
    private final boolean hasWellKnownName;

    private TagRules(FieldName[] names, TagSyntax[] syntaxes, boolean keep) {
        this.names = names;
        this.syntaxes = syntaxes;
        this.keep = keep;
        long bits = 0;
        boolean isWellKnown = false;
        for (FieldName name : names) {
            bits |= 1L << name.text().length();
            isWellKnown |= name.isWellKnown();
        }
        lengths = bits;
        hasWellKnownName = isWellKnown;
    }

    /**
     * Creates rules.
     *
     * @param fields names of the fields; empty for no tags
     * @param keep whether responses to clients keep the fields
     */
    public static TagRules of(List<String> fields, boolean keep) {
        FieldName[] names = fields.stream().map(FieldName::of).toArray(FieldName[]::new);
        TagSyntax[] syntaxes = fields.stream().map(TagSyntax::of).toArray(TagSyntax[]::new);
        return new TagRules(names, syntaxes, keep);
    }

    /** Returns whether the tags of responses are read from a field. */
    public boolean hasField(String field) {
        for (FieldName name : names) {
            if (name.text().equalsIgnoreCase(field)) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether a response has a field with tags other than Cache-Groups. */
    public boolean hasTagField(FieldSection fields) {
        for (int line = 0; line < fields.size(); line++) {
            int index = indexOf(fields, line);
            if (index >= 0 && syntaxes[index] != TagSyntax.STRINGS) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns whether a field line is removed from responses to clients. Fields with a constant in {@link FieldName}
     * are kept.
     */
    public boolean isRemoved(FieldSection fields, int line) {
        if (keep || fields.isWellKnown(line)) {
            return false;
        }
        int index = indexOf(fields, line);
        return index >= 0 && syntaxes[index] != TagSyntax.STRINGS;
    }

    /** Returns the index of a line's name in {@link #names}; -1 if it is not one of them. Allocates nothing. */
    private int indexOf(FieldSection fields, int line) {
        int length = fields.nameEnd(line) - fields.nameStart(line);
        if ((lengths & (1L << length)) == 0 || (fields.isWellKnown(line) && !hasWellKnownName)) {
            return -1;
        }
        for (int i = 0; i < names.length; i++) {
            if (fields.isNamed(line, names[i])) {
                return i;
            }
        }
        return -1;
    }

    /** Returns the tags of a response without duplicates; {@link Tags#NONE} if there are none. */
    public Tags read(FieldSection fields) {
        TagList list = isAnyIn(fields) ? list(fields) : null;
        return list == null ? Tags.NONE : list.tags();
    }

    /** Returns the reason why a response with its tags cannot be stored; null if it can. */
    public @Nullable String problem(FieldSection fields) {
        return isAnyIn(fields) ? list(fields).problem() : null;
    }

    private boolean isAnyIn(FieldSection fields) {
        for (int line = 0; line < fields.size(); line++) {
            if (indexOf(fields, line) >= 0) {
                return true;
            }
        }
        return false;
    }

    private TagList list(FieldSection fields) {
        TagList list = new TagList();
        for (int i = 0; i < names.length; i++) {
            if (syntaxes[i] == TagSyntax.STRINGS) {
                addStrings(fields, names[i], list);
                continue;
            }
            for (int line = fields.find(names[i]); line >= 0; line = fields.next(names[i], line)) {
                list.add(fields.bytes(), fields.valueStart(line), fields.valueEnd(line), syntaxes[i]);
            }
        }
        return list;
    }

    private static void addStrings(FieldSection fields, FieldName name, TagList list) {
        List<Member> members = StructuredFields.list(fields, name);
        if (members == null) {
            return;
        }
        for (Member member : members) {
            // A list with other items than strings is ignored (RFC 9875 section 2).
            if (!(member instanceof Member.Item item) || !(item.value() instanceof BareItem.SfString)) {
                return;
            }
        }
        for (Member member : members) {
            if (member instanceof Member.Item item && item.value() instanceof BareItem.SfString string) {
                byte[] bytes = string.value().getBytes(StandardCharsets.ISO_8859_1);
                list.addOne(bytes, 0, bytes.length);
            }
        }
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof TagRules that && keep == that.keep && Arrays.equals(names, that.names);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(names) * 31 + Boolean.hashCode(keep);
    }

    @Override
    public String toString() {
        return Arrays.toString(names) + (keep ? " kept" : "");
    }
}
