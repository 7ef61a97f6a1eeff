"""Code that is not rewritten: methods given shared arguments, views, types of the standard library, files."""
import array, collections, configparser, copy, ctypes, decimal, functools, io, json, logging, os, pickle, pprint, re
import gc, sqlite3, string, struct, sys, textwrap, contextlib, csv, random, tempfile, types, weakref
from treadle import parallel as par
from tests.programs.sight.table import fails, passes, within_bounds


def _sees(read, write, expected):
    seen = []
    par(lambda: seen.append(read()), write)
    assert seen == [expected]

def _up_and_down(l):
    def w(): l.append('b'); l.pop()
    return w

@fails
def bytes_join():
    l = [b'a']; _sees(lambda: b','.join(l), lambda: l.append(b'b'), b'a')
@fails
def str_join_by_its_type():
    l = ['a']; _sees(lambda: str.join(',', l), _up_and_down(l), 'a')
@fails
def str_format():
    l = ['a']; _sees(lambda: '{}'.format(l), _up_and_down(l), "['a']")
@fails
def str_format_map():
    d = {'k': 0}
    def w(): d['k'] = 1
    _sees(lambda: '{k}'.format_map(d), w, '0')
@fails
def percent_formatting():
    l = ['a']; _sees(lambda: '%s' % (l,), _up_and_down(l), "['a']")
@fails
def f_string_of_nested():
    d = {'l': ['a']}; _sees(lambda: f'{d}', _up_and_down(d['l']), "{'l': ['a']}")
@fails
def str_translate():
    t = {97: 'x'}; _sees(lambda: 'a'.translate(t), t.clear, 'x')
@fails
def repr_of_nested():
    l = [['a']]; _sees(lambda: repr(l), _up_and_down(l[0]), "[['a']]")
@fails
def str_of_a_tuple():
    l = ['a']; _sees(lambda: str((l,)), _up_and_down(l), "(['a'],)")
@fails
def any_of_nested():
    l = [[1]]; _sees(lambda: any(l), l[0].clear, True)
@fails
def sum_of_lists():
    l = [[1]]; _sees(lambda: sum(l, []), l[0].clear, [1])
@fails
def max_of_lists():
    l = [[1], [0, 9]]; _sees(lambda: max(l) is l[0], l[0].clear, True)
@fails
def deepcopy_of_nested():
    l = [['a']]; _sees(lambda: copy.deepcopy(l), _up_and_down(l[0]), [['a']])
@fails
def json_dumps_of_nested():
    l = [['a']]; _sees(lambda: json.dumps(l), _up_and_down(l[0]), '[["a"]]')
@fails
def pickle_dumps():
    l = ['a']; _sees(lambda: pickle.loads(pickle.dumps(l)), _up_and_down(l), ['a'])
@fails
def pprint_of_nested():
    l = [['a']]; _sees(lambda: pprint.pformat(l), _up_and_down(l[0]), "[['a']]")
@fails
def in_a_tuple_of_lists():
    l = [1]; _sees(lambda: [1] in (l,), l.clear, True)
@fails
def list_index_of_nested():
    l = [[1]]; _sees(lambda: l.count([1]), l[0].clear, 1)
@fails
def unpacked_pairs():
    pair = [1, 2]; pairs = [pair]
    def r():
        for a, b in pairs: return a
    def w(): pair[0] = 5
    _sees(r, w, 1)
@fails
def memoryview_of_a_bytearray():
    b = bytearray(1); m = memoryview(b)
    def w(): b[0] = 1
    _sees(lambda: m[0], w, 0)
@fails
def memoryview_cast_and_slice():
    b = bytearray(4); m = memoryview(b)[1:].cast('B')
    def w(): b[1] = 1
    _sees(lambda: m.tobytes()[0], w, 0)
@fails
def memoryview_of_an_array():
    a = array.array('i', [0]); m = memoryview(a)
    def f(): m[0] += 1
    def g(): a[0] += 1
    par(f, g)
    assert a[0] == 2
@fails
def mapping_proxy():
    d = {'k': 0}; p = types.MappingProxyType(d)
    def w(): d['k'] = 1
    _sees(lambda: p['k'], w, 0)
@fails
def mapping_proxy_get():
    d = {'k': 0}; p = types.MappingProxyType(d)
    def w(): d['k'] = 1
    _sees(lambda: p.get('k'), w, 0)
@fails
def chain_map():
    d = {'k': 0}; c = collections.ChainMap({}, d)
    def w(): d['k'] = 1
    _sees(lambda: c['k'], w, 0)
@fails
def chain_map_written():
    d = {'k': 0}; c = collections.ChainMap(d)
    def w(): c['k'] = 1
    _sees(lambda: d['k'], w, 0)
@fails
def keys_view():
    d = {}; k = d.keys()
    _sees(lambda: 'a' in k, lambda: d.update(a=1), False)
@fails
def items_view_compared():
    d = {}; _sees(lambda: d.items() == {}.items(), lambda: d.update(a=1), True)
@fails
def views_subtracted():
    d = {}; _sees(lambda: d.keys() - set(), lambda: d.update(a=1), set())
@fails
def array_append():
    a = array.array('i'); _sees(lambda: len(a), lambda: a.append(1), 0)
@fails
def array_counter():
    a = array.array('i', [0])
    def f(): a[0] += 1
    par(f, f)
    assert a[0] == 2
@fails
def array_iadd():
    a = array.array('i', [0])
    def w():
        b = a
        b += array.array('i', [1])
    _sees(lambda: len(a), w, 1)
@fails
def user_dict():
    d = collections.UserDict(); _sees(lambda: len(d), lambda: d.update(a=1), 0)
@fails
def user_dict_data():
    d = collections.UserDict(k=0)
    def w(): d.data['k'] = 1
    _sees(lambda: d['k'], w, 0)
@fails
def user_list():
    d = collections.UserList(); _sees(lambda: bool(d), lambda: d.append(1), False)
class Mine(collections.UserDict): pass
@fails
def subclass_of_user_dict():
    d = Mine(k=0); _sees(lambda: d.get('k'), lambda: d.pop('k'), 0)
@fails
def counter_updated():
    c = collections.Counter(); _sees(lambda: c['a'], lambda: c.update('a'), 0)
@fails
def counter_lost_update():
    c = collections.Counter()
    def f(): c['a'] += 1
    par(f, f)
    assert c['a'] == 2
@fails
def ordered_dict_moved():
    d = collections.OrderedDict(a=1, b=2); _sees(lambda: list(d), lambda: d.move_to_end('a'), ['a', 'b'])
@fails
def deque_rotated():
    d = collections.deque([1, 2]); _sees(lambda: d[0], lambda: d.rotate(1), 1)
@fails
def ctypes_value():
    c = ctypes.c_int(0)
    def f(): c.value += 1
    par(f, f)
    assert c.value == 2
@fails
def ctypes_array_through_a_pointer():
    a = (ctypes.c_int * 1)(0); p = ctypes.cast(a, ctypes.POINTER(ctypes.c_int))
    def w(): p[0] = 1
    _sees(lambda: a[0], w, 0)
@fails
def decimal_context():
    c = decimal.Context(prec=5)
    def w(): c.prec = 2
    _sees(lambda: c.divide(decimal.Decimal(1), decimal.Decimal(3)), w, decimal.Decimal('0.33333'))
@fails
def environment():
    os.environ['SIGHT'] = '0'
    def w(): os.environ['SIGHT'] = '1'
    _sees(lambda: os.getenv('SIGHT'), w, '0')
@fails
def environment_item():
    os.environ['SIGHT'] = '0'
    def w(): os.environ['SIGHT'] = '1'
    _sees(lambda: os.environ['SIGHT'], w, '0')
@fails
def string_io():
    f = io.StringIO(); _sees(f.getvalue, lambda: f.write('x'), '')
@fails
def printed_to_a_file():
    f = io.StringIO(); _sees(f.getvalue, lambda: print('x', file=f), '')
@fails
def printed_to_redirected_output():
    f = io.StringIO()
    with contextlib.redirect_stdout(f):
        _sees(f.getvalue, lambda: print('x'), '')
@fails
def printed_list():
    l = ['a']; f = io.StringIO(); par(lambda: print(l, file=f), _up_and_down(l))
    assert f.getvalue() == "['a']\n"
@fails
def csv_writer():
    f = io.StringIO(); w = csv.writer(f); _sees(f.getvalue, lambda: w.writerow([1]), '')
@fails
def bytes_io_position():
    f = io.BytesIO(b'ab')
    assert par(lambda: f.read(1), lambda: f.read(1)) == [b'a', b'b']
@fails
def lines_of_a_file():
    f = io.StringIO('a\nb\n')
    assert par(lambda: next(f), lambda: next(f)) == ['a\n', 'b\n']
@fails
def real_file():
    with tempfile.TemporaryFile('w+') as f:
        f.write('ab'); f.seek(0)
        assert par(lambda: f.read(1), lambda: f.read(1)) == ['a', 'b']
@fails
def sqlite_connection():
    c = sqlite3.connect(':memory:', check_same_thread=False); c.execute('create table t(n)'); c.execute('insert into t values(0)')
    def f():
        n = c.execute('select n from t').fetchone()[0]
        c.execute('update t set n=?', (n + 1,))
    par(f, f)
    assert c.execute('select n from t').fetchone()[0] == 2
@fails
def config_parser():
    c = configparser.ConfigParser(); c.read_string('[a]\nx=0')
    _sees(lambda: c.get('a', 'x'), lambda: c.set('a', 'x', '1'), '0')
@fails
def random_of_ones_own():
    r = random.Random(1); first, second = random.Random(1), []
    expected = [first.random(), first.random()]
    assert par(r.random, r.random) == expected
@fails
def weak_proxy():
    class B: n = 0
    b = B(); p = weakref.proxy(b)
    def w(): b.n = 1
    _sees(lambda: p.n, w, 0)
@fails
def bytearray_grows():
    b = bytearray(); _sees(lambda: bytes(b), lambda: b.extend(b'x'), b'')
@fails
def struct_pack_into():
    b = bytearray(1); _sees(lambda: b[0], lambda: struct.pack_into('B', b, 0, 1), 0)
@fails
def regular_expression_on_a_bytearray():
    b = bytearray(b'a'); _sees(lambda: re.match(b'a', b) is not None, b.clear, True)
@fails
def template_substituted():
    d = {'k': 0}; t = string.Template('$k')
    def w(): d['k'] = 1
    _sees(lambda: t.substitute(d), w, '0')
@fails
def module_level_state_of_a_library():
    logger = logging.getLogger('sight')
    def w(): logging.disable(logging.CRITICAL)
    try: _sees(lambda: logger.isEnabledFor(logging.ERROR), w, True)
    finally: logging.disable(logging.NOTSET)
@fails
def exit_stack():
    stack = contextlib.ExitStack(); done = []
    par(lambda: stack.callback(done.append, 1), stack.close)
    assert done == [1]

@passes
def immutable_values():
    d = decimal.Decimal(1)
    assert par(lambda: d + 1, lambda: d * 2, lambda: 'a'.join(['b', 'c'])) == [2, 2, 'bac']
@passes
def str_methods_of_private_lists():
    assert par(lambda: ','.join(['a']), lambda: ','.join(['b'])) == ['a', 'b']
@within_bounds('json.dumps')
def json_of_a_shared_dict():
    d = {'a': 1}; seen = []
    def w(): d['a'] = 2
    par(lambda: seen.append(json.dumps(d)), w)
    assert seen[0] in ('{"a": 1}', '{"a": 2}')
@within_bounds('collections.UserDict')
def user_dict_pass():
    d = collections.UserDict()
    par(lambda: d.update(a=1), lambda: d.update(b=2))
    assert len(d) == 2


class _Box:
    def __init__(self): self.n = [1]

@fails
def deepcopy_of_an_instance():
    box = _Box()
    def put(): box.n[0] = 2
    assert par(lambda: copy.deepcopy(box).n[0], put)[0] == 1
@fails
def recursion_limit():
    limit = sys.getrecursionlimit()
    def put():
        sys.setrecursionlimit(limit + 1)
        sys.setrecursionlimit(limit)
    assert par(sys.getrecursionlimit, put)[0] == limit
@fails
def threshold_of_the_collector():
    before = gc.get_threshold()
    def put():
        gc.set_threshold(before[0] + 1)
        gc.set_threshold(*before)
    assert par(gc.get_threshold, put)[0] == before
# As numpy's behind `NpzFile.f`: each attribute is looked for among its own items.
elsewhere = {'__name__': 'elsewhere'}
exec('class Bag:\n def __getattribute__(self, name): raise AttributeError(name)', elsewhere)
@within_bounds('collections.UserList')
def an_object_that_does_not_tell_its_class():
    d = collections.UserList([elsewhere['Bag']()])
    par(lambda: d.append(1), lambda: d.append(2))
    assert len(d) == 3
