package telemetry

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTemplate(t *testing.T) {
	const uuid = "550e8400-e29b-41d4-a716-446655440000"
	for _, c := range []struct{ name, want string }{
		{"", ""},
		{"orders", "orders"},
		{"order:42", "order:{id}"},
		{"42", "{id}"},
		{"order:42:line:7", "order:{id}:line:{id}"},
		{"user42", "user{id}"},
		{"42user", "{id}user"},
		{"2031-02-03", "{id}-{id}-{id}"},
		{"10.0.0.1", "{id}.{id}.{id}.{id}"},
		{"{order:42}:lock", "{order:{id}}:lock"},
		{"order:{id}", "order:{id}"},

		{uuid, "{id}"},
		{strings.ToUpper(uuid), "{id}"},
		{"job/" + uuid + "/run", "job/{id}/run"},
		{uuid + "_" + uuid, "{id}_{id}"},
		{"550e8400-e29b-41d4-a716", "{id}-e{id}b-{id}d{id}-a{id}"},

		{"blob:1f9ab3c0", "blob:{id}"},
		{"blob:1F9AB3C0", "blob:{id}"},
		{"blob:1f9ab3", "blob:{id}f{id}ab{id}"},
		{"blob:deadbeefdeadbeef", "blob:{id}"},
		{"blob:deadbeef", "blob:deadbeef"},
		{"façade", "façade"},
		{"effaced", "effaced"},
		{"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "{id}"},
		// The word goes on with a letter that is no digit of any number, so only
		// the decimal digits are taken out of it.
		{"1234567890abcdefgh", "{id}abcdefgh"},
		{"namespace12345678", "namespace{id}"},

		{"grüße:7", "grüße:{id}"},
		{"bad\xff7", "bad\xff{id}"},
	} {
		if got := Template(c.name); got != c.want {
			t.Errorf("Template(%q) = %q, want %q", c.name, got, c.want)
		}
	}
}

func FuzzTemplate(f *testing.F) {
	for _, s := range []string{
		"", "order:42", "a-550e8400-e29b-41d4-a716-446655440000-b", "deadbeefdeadbeef", "\xff1\xfe", "{id}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got := Template(name)
		if strings.ContainsAny(got, "0123456789") {
			t.Errorf("Template(%q) = %q keeps a digit", name, got)
		}
		if utf8.ValidString(name) != utf8.ValidString(got) {
			t.Errorf("Template(%q) = %q changes validity", name, got)
		}
		if again := Template(got); again != got {
			t.Errorf("Template(%q) = %q, then %q", name, got, again)
		}
		if !strings.ContainsAny(name, "0123456789") && len(name) < longHexLen && got != name {
			t.Errorf("Template(%q) = %q, but there is nothing to collapse", name, got)
		}
	})
}

func TestValidText(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"plain", "plain"},
		{"grüße 漢", "grüße 漢"},
		{"\xff", `\xff`},
		{"a\x80b\xc3", `a\x80b\xc3`},
		{"\ufffd", "\ufffd"}, // the replacement character itself is valid
		{"\xed\xa0\x80", `\xed\xa0\x80`},
	} {
		if got := validText(c.in); got != c.want {
			t.Errorf("validText(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func FuzzValidText(f *testing.F) {
	f.Add("a\xffb")
	f.Fuzz(func(t *testing.T, s string) {
		got := validText(s)
		if !utf8.ValidString(got) {
			t.Errorf("validText(%q) = %q is not valid", s, got)
		}
		if utf8.ValidString(s) && got != s {
			t.Errorf("validText(%q) = %q changes valid text", s, got)
		}
	})
}
