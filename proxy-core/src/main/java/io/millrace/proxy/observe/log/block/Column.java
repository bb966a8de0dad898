package io.millrace.proxy.observe.log.block;

/**
 * A column of a binary log. Immutable.
 *
 * @param name the unique name, 1 to 127 printable ASCII characters
 * @param type the type of the values
 * @param isGrouped true if the column belongs to the group: the values of all grouped columns together are stored once
 *     in a block, and rows refer to them. For columns with few different values
 */
public record Column(String name, ColumnType type, boolean isGrouped) {
    /** Limit of the length of a name. */
    static final int NAME_MAX = 127;

    /** Checks the name. */
    public Column {
        boolean valid =
                !name.isEmpty() && name.length() <= NAME_MAX && name.chars().allMatch(c -> c >= ' ' && c <= '~');
        if (!valid) {
            throw new IllegalArgumentException("name of a column: " + name);
        }
        if (isGrouped && type == ColumnType.TIME) {
            throw new IllegalArgumentException("a column of times cannot be grouped: " + name);
        }
    }
}
