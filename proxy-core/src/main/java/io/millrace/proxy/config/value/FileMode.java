package io.millrace.proxy.config.value;

/**
 * The mode of files that the proxy creates. The mode of directories follows from it. Immutable.
 *
 * @param bits permission bits of files, as in {@code chmod}
 */
public record FileMode(int bits) {
    private static final String FORM =
            "expected four digits such as 0640: the owner has 6, the group 0, 4 or 6, others 0 or 4";

    /** The owner may read and write, the group may read. */
    public static final FileMode STANDARD = new FileMode(0640);

    public static FileMode parse(String text) throws InvalidValueException {
        if (text.matches("06[046][04]")) {
            return new FileMode(Integer.parseInt(text, 8));
        }
        throw new InvalidValueException("'" + text + "' is not a file mode; " + FORM);
    }

    /** Parses the mode of a Unix socket: any four octal digits from 0000 to 0777. */
    public static FileMode parseSocket(String text) throws InvalidValueException {
        if (text.matches("0[0-7]{3}")) {
            return new FileMode(Integer.parseInt(text, 8));
        }
        throw new InvalidValueException("'" + text + "' is not the mode of a socket; expected four octal digits such"
                + " as 0660: processes that may write to the socket may connect");
    }

    /** The mode of directories: the mode of files, with search permission wherever files are readable. */
    public int directoryBits() {
        return bits | (bits & 0444) >> 2;
    }

    /** The umask of a process that creates files and directories with these modes. */
    public int umask() {
        return 0777 & ~directoryBits();
    }

    /** Formats a mode as four octal digits. */
    public static String text(int bits) {
        return "0" + Integer.toOctalString(01000 | bits).substring(1);
    }

    @Override
    public String toString() {
        return text(bits);
    }
}
