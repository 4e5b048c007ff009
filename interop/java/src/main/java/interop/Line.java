package interop;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One line of the protocol: a flat JSON object whose values are strings, whole
 * numbers, booleans or null. The three Redisson versions bring three different
 * JSON libraries, or none; this needs none.
 */
final class Line {
    private final Map<String, Object> fields = new LinkedHashMap<>();
    private String in;
    private int at;

    /** Reads one line; anything but a flat object is an IllegalArgumentException. */
    static Line parse(String text) {
        Line line = new Line();
        line.in = text;
        line.object();
        return line;
    }

    Line put(String key, Object value) {
        fields.put(key, value);
        return this;
    }

    /** The string of that name, or null. */
    String text(String key) {
        Object v = fields.get(key);
        return v == null ? null : v.toString();
    }

    /** The number of that name, or the default. */
    long number(String key, long otherwise) {
        Object v = fields.get(key);
        return v instanceof Long ? (Long) v : otherwise;
    }

    @Override
    public String toString() {
        StringBuilder out = new StringBuilder("{");
        for (Map.Entry<String, Object> f : fields.entrySet()) {
            if (out.length() > 1) {
                out.append(',');
            }
            quote(out, f.getKey());
            out.append(':');
            Object v = f.getValue();
            if (v instanceof String) {
                quote(out, (String) v);
            } else {
                out.append(v);
            }
        }
        return out.append('}').toString();
    }

    private static void quote(StringBuilder out, String s) {
        out.append('"');
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ') {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }

    private void object() {
        expect('{');
        if (peek() == '}') {
            return;
        }
        do {
            String key = string();
            expect(':');
            fields.put(key, value());
        } while (more());
        expect('}');
    }

    private boolean more() {
        if (peek() != ',') {
            return false;
        }
        at++;
        return true;
    }

    private Object value() {
        char c = peek();
        if (c == '"') {
            return string();
        }
        int from = at;
        while (at < in.length() && ",} \t".indexOf(in.charAt(at)) < 0) {
            at++;
        }
        String word = in.substring(from, at);
        switch (word) {
            case "true":
                return Boolean.TRUE;
            case "false":
                return Boolean.FALSE;
            case "null":
                return null;
            default:
                return Long.valueOf(word);
        }
    }

    private String string() {
        expect('"');
        StringBuilder out = new StringBuilder();
        while (in.charAt(at) != '"') {
            char c = in.charAt(at++);
            if (c != '\\') {
                out.append(c);
                continue;
            }
            c = in.charAt(at++);
            if (c == 'u') {
                out.append((char) Integer.parseInt(in.substring(at, at + 4), 16));
                at += 4;
            } else {
                int i = "bfnrt".indexOf(c);
                out.append(i < 0 ? c : "\b\f\n\r\t".charAt(i));
            }
        }
        at++;
        return out.toString();
    }

    private void expect(char c) {
        if (peek() != c) {
            throw new IllegalArgumentException("expected " + c + " at " + at + " in " + in);
        }
        at++;
    }

    private char peek() {
        while (at < in.length() && Character.isWhitespace(in.charAt(at))) {
            at++;
        }
        return at < in.length() ? in.charAt(at) : 0;
    }
}
