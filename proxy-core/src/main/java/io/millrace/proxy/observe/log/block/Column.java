package io.millrace.proxy.observe.log.block;

/**
 * A column of a binary log. Immutable.
 *
 * @param name the unique name, 1 to 127 printable ASCII characters
 * @param type the type of the values
 * @param isGrouped true if the column is grouped, which suits columns with few different values: a block stores each
 *     combination of the values of all grouped columns once, and rows refer to the combination by its number
 */
public record Column(String name, ColumnType type, boolean isGrouped) {
    /** Limit of the length of a name. */
    static final int NAME_MAX = 127;

    /** Checks the name. */
    public Column {
        boolean valid =
                !name.isEmpty() && name.length() <= NAME_MAX && name.chars().allMatch(c -> c >= ' ' && c <= '~');
        if (!valid) {
            throw new IllegalArgumentException(
                    "the name of a column must be 1 to " + NAME_MAX + " printable ASCII characters: " + name);
        }
        if (isGrouped && type == ColumnType.TIME) {
            throw new IllegalArgumentException("a column of times cannot be grouped: " + name);
        }
    }
}
